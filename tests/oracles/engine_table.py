"""The part of docs/figures/oracles.md about DeepSpeed's engine (oracles_table.py)."""
import json
import pathlib

from simulated_engine import simulate_engine

HERE = pathlib.Path(__file__).resolve().parent

NOTES = """Stages 1 and 2 pad the flat group to twice the ranks, stage 3 each parameter to the ranks, the simulator a unit's part to 64 numbers. States are the simulator's optimizer
states and the engine's masters and moments: the simulator has the fp32 gradient of a part in them, too (`owner_gradient_bytes`), which the engine makes in its step alone. In fp32
with stages 1 to 3 the engine keeps a copy of its part beside the weights: as many bytes. Stage 0 in bf16 keeps whole masters and moments on every rank, as simulated.
Between two steps a reduction bucket stays with stage 3 (5e8 numbers unless a configuration says less: 0.93 GiB in bf16), which is not simulated.
"""


def row(kept, ours):
    case, theirs = kept["case"], kept["bytes"]["step"]
    part = theirs["moments"] // 8
    states = theirs["moments"] + theirs["masters"]
    return (f"| {kept['seed']} | {case['zero']} | {case['precision']} | {case['rank']} of {case['ranks']} | {theirs['parameters']} | {ours['parameters'] - theirs['parameters']:+} | "
            f"{states} | {ours['optimizer_state'] - states:+} | {4 * part if case['zero'] else 0} |")


def section(program):
    kept = json.loads((HERE / "kept_deepspeed.json").read_text())
    return f"""## DeepSpeed's engine

DeepSpeed 0.19.8's engine of small llamas on a CPU, one rank of a fake process group; what it holds after its first step, in bytes; {len(kept)} engines.

| seed | ZeRO | precision | rank | weights | simulated, more by | masters and moments | simulated, more by | of it the fp32 gradient of a part |
|---|---|---|---|---|---|---|---|---|
""" + "\n".join(row(each, simulate_engine(program, each["case"])) for each in kept) + "\n\n" + NOTES
