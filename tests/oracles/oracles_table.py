"""docs/figures/oracles.md: the simulator beside torch's own answers. `oracles_table.py build/dev/bin/meshwright`."""
import json
import os
import pathlib
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

from simulated import simulate

HERE = pathlib.Path(__file__).resolve().parent


def exchanges(ledger):
    return [tuple(entry[1:]) for entry in ledger if entry[1] != "all_reduce"]


def line(kept, made):
    case, peak = kept["case"], max(kept["peaks"].values())
    form = case["form"]
    ours, its = exchanges(made["ledger"]), exchanges(kept["ledger"])
    same = sum(a == b for a, b in zip(ours, its))
    return (f"| {kept['seed']} | {form['layers']} x {form['hidden']}, vocabulary {form['vocabulary']} | {case['ranks']} | {case['microbatches']} x "
            f"{case['microbatch']} x {case['sequence']} | {case['recompute']} | {peak / 2**20:.1f} | {100 * (made['peak'] / peak - 1):+.2f} | "
            f"{len(its)} | {len(ours)} | {same} |")


def main():
    every = json.loads((HERE / "kept.json").read_text())
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        pairs = list(zip(every, threads.map(lambda kept: simulate(sys.argv[1], kept["case"]), every)))
    errors = [abs(made["peak"] / max(kept["peaks"].values()) - 1) for kept, made in pairs]
    text = f"""# FSDP 2 by torch itself, beside the simulator

Written by tests/oracles/oracles_table.py. torch 2.11 runs a llama's step with FSDP 2 on fake tensors and a fake process group; storages and collectives are
counted below autograd (tests/oracles). Peaks are those of forward and backward, after the first step. Error: simulated over torch's, in percent.

{len(pairs)} plans: error of the peak {100 * statistics.median(errors):.4f} % (median), {100 * max(errors):.2f} % (largest); {sum(each <= 0.01 for each in errors)} within 1 %. \
Ledgers equal, entry by entry and byte by byte: {sum(exchanges(made['ledger']) == exchanges(kept['ledger']) for kept, made in pairs)}.

| seed | model | ranks | microbatches x size x sequence | recompute | torch's peak, MiB | error | collectives of torch | simulated | equal bytes at the same place |
|---|---|---|---|---|---|---|---|---|---|
""" + "\n".join(line(*pair) for pair in pairs) + """

What differs and is left out: the norm of the gradients. torch sums one number a parameter; the simulator one a block of its own worker's layout.
Tensors of a few bytes (a loss, a step's counter a parameter) are not simulated.
"""
    (HERE.parents[1] / "docs" / "figures" / "oracles.md").write_text(text)


if __name__ == "__main__":
    main()
