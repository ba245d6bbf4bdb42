"""docs/figures/oracles.md: the simulator beside torch's own answers. `oracles_table.py build/dev/bin/meshwright`."""
import json
import os
import pathlib
import statistics
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import accelerate_table
import allocator_table
import engine_table
import pipeline_table
from simulated import simulate

HERE = pathlib.Path(__file__).resolve().parent
SHOWN = 20   # the worst
OF_BUCKETS = """Of DistributedDataParallel a layer's gradients are counted from the begin of its backward, torch's come one by one. Queries, keys and values are one tensor
here and three there, and so are gate and up: small buckets end elsewhere; with the usual sizes (1 MiB, then 25 MiB) all are torch's.

"""


def exchanges(case, ledger):
    """Not what sums norms: of DistributedDataParallel the buckets, else all but sums."""
    if "bucket_mib" in case:
        return [tuple(entry[1:]) for entry in ledger if entry[0] in ("gradients", "backward")]
    return [tuple(entry[1:]) for entry in ledger if entry[1] != "all_reduce"]


def line(kept, made):
    case, peak = kept["case"], max(kept["peaks"].values())
    form = case["form"]
    ours, its = exchanges(case, made["ledger"]), exchanges(case, kept["ledger"])
    return (f"| {kept['seed']} | {form['layers']} x {form['hidden']}, vocabulary {form['vocabulary']} | {case['ranks']} x {case.get('tensor', 1)} | "
            f"{case['microbatches']} x {case['microbatch']} x {case['sequence']} | {case['recompute']} | {peak / 2**20:.1f} | "
            f"{100 * (made['peak'] / peak - 1):+.4f} | {len(its)} | {(Counter(ours) & Counter(its)).total()} | {sum(a == b for a, b in zip(ours, its))} |")


def section(name, pairs):
    def error(pair):
        return abs(pair[1]["peak"] / max(pair[0]["peaks"].values()) - 1)
    errors = [error(pair) for pair in pairs]
    pairs_of_ledgers = [(exchanges(kept["case"], made["ledger"]), exchanges(kept["case"], kept["ledger"])) for kept, made in pairs]
    return f"""## {name}

{len(pairs)} plans: error of the peak {100 * statistics.median(errors):.4f} % (median), {100 * max(errors):.2f} % (largest); {sum(each <= 0.01 for each in errors)} within 1 %. \
Ledgers with the same entries, byte by byte: {sum(Counter(ours) == Counter(its) for ours, its in pairs_of_ledgers)}; in the same order: \
{sum(ours == its for ours, its in pairs_of_ledgers)}. The {SHOWN} worst peaks:

| seed | model | data x tensor ranks | microbatches x size x sequence | recompute | torch's peak, MiB | error, % | collectives | as simulated | at the same place |
|---|---|---|---|---|---|---|---|---|---|
""" + "\n".join(line(*pair) for pair in sorted(pairs, key=error, reverse=True)[:SHOWN]) + "\n"


def main():
    text = """# FSDP 2, DistributedDataParallel and pipelines by torch itself, beside the simulator

Written by tests/oracles/oracles_table.py. torch 2.11 runs a llama's step with FSDP 2 on fake tensors, or with DistributedDataParallel on real ones, and a fake process group; storages and collectives are
counted below autograd (tests/oracles). Peaks are those of forward and backward, after the first step. Error: simulated over torch's, in percent.
Aimed at: peaks within 1 %, ledgers equal entry by entry. All plans of FSDP 2 without tensor ranks have both; those with tensor ranks have all entries in another order, since torch issues gathers of units and exchanges of tensor ranks in
turn and the simulator in an order of its own (`tests/oracles/oracles_test.py`). DistributedDataParallel, Accelerate's plugin and pipelines miss the aim, as their sections count, for what they say there.
The models are one form, a llama of at most six blocks (of the allocator's section 16). Not asked: experts, encoders, convolutions; bytes of each rank in Accelerate's engine; Megatron-Bridge's `theoretical_memory_utils`.

"""
    for name, file in (("Data ranks", "kept.json"), ("Recomputed by operators", "kept_operators.json"), ("Data and tensor ranks", "kept_mesh.json"),
                       ("Copies of shards, weights cut over neighbours after the forward", "kept_hybrid.json"), ("DistributedDataParallel", "kept_ddp.json")):
        every = json.loads((HERE / file).read_text())
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            pairs = list(zip(every, threads.map(lambda kept: simulate(sys.argv[1], kept["case"]), every)))
        text += section(name, pairs) + "\n"
    text += OF_BUCKETS
    text += pipeline_table.section(sys.argv[1]) + "\n" + engine_table.section(sys.argv[1]) + "\n" + accelerate_table.section(sys.argv[1]) + "\n" + allocator_table.section(sys.argv[1]) + "\n"
    text += """What differs and is left out: the norm of the gradients. torch sums one number a parameter; the simulator one a block of its own worker's layout.
Tensors of a few bytes (a loss, a step's counter a parameter) are not simulated. Of fake tensors, the copy that `wait_tensor` makes and what DTensor asks
of the whole's shape are no storage of a rank, and are not counted.
"""
    (HERE.parents[1] / "docs" / "figures" / "oracles.md").write_text(text)


if __name__ == "__main__":
    main()
