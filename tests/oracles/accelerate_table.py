"""The part of docs/figures/oracles.md about Accelerate's FSDP 2 (oracles_table.py)."""
import json
import os
import pathlib
import statistics
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from simulated_accelerate import exchanges, simulate_accelerate

HERE = pathlib.Path(__file__).resolve().parent

NOTES = """Units: Accelerate 1.15 gives the embedding, each block, and norm with head a group of their own; the last stays gathered after the forward, and nothing is left for the root. Weights
are fp32 shards, gathered and reduced in the mixed precision. The simulated ledger is its own, entry by entry; the sum of the norm is left out, which is asked for by a program's loop.
A block's gradients come at once when its backward begins, torch's product by product: with few tokens they are most of the peak.
"""


def row(kept, ours):
    case, form, peak = kept["case"], kept["case"]["form"], max(kept["peaks"].values())
    its, made = exchanges(kept["ledger"]), exchanges(ours["ledger"])
    return (f"| {kept['seed']} | {form['layers']} x {form['hidden']}, vocabulary {form['vocabulary']} | {case['replicas']} x {case['ranks'] // case['replicas']} | "
            f"{case['microbatches']} x {case['microbatch']} x {case['sequence']} | {case['precision']} | {'yes' if case['reshard'] else 'no'} | {case['recompute']} | {len(kept['units'])} | "
            f"{peak / 2**20:.1f} | {100 * (ours['peak'] / peak - 1):+.2f} | {len(its)} | {(Counter(its) & Counter(made)).total()} | {sum(a == b for a, b in zip(its, made))} |")


def section(program):
    kept = json.loads((HERE / "kept_accelerate.json").read_text())
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        pairs = list(zip(kept, threads.map(lambda each: simulate_accelerate(program, each["case"]), kept)))
    errors = [abs(ours["peak"] / max(each["peaks"].values()) - 1) for each, ours in pairs]
    return f"""## Accelerate's FSDP 2

Accelerate 1.15's plugin wraps a llama of Transformers 5.23 on fake tensors and a fake process group; {len(kept)} steps. Error of the peak: {100 * statistics.median(errors):.2f} % (median), {100 * max(errors):.1f} % (largest).

| seed | model | copies x shards | microbatches x size x sequence | precision | reshard | recompute | units | peak, MiB | error, % | collectives | as simulated | at the same place |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
""" + "\n".join(row(*pair) for pair in pairs) + "\n\n" + NOTES
