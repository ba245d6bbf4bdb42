"""The part of docs/figures/oracles.md about pipelines (oracles_table.py)."""
import json
import os
import pathlib
import statistics
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from pipeline_cases import SCHEDULES
from simulated_pipeline import simulate_pipeline

HERE = pathlib.Path(__file__).resolve().parent
SHOWN = 12   # the worst

NOTES = """Sends are in the same order on every rank, and so are receives from each neighbour. Torch posts a receive where its runtime finds it ready, so that the order between
two neighbours can differ where a rank has several stages. What differs in memory:

- One message of Schedule1F1B: a variable holds the gradient that was sent last until the next is sent (`bwd_sends`, torch/distributed/pipelining/schedules.py).
- Where the peak stands in the last reductions: torch reduces the units of a stage from first to last (`perform_reduce_grad`), the simulator from last to first.
- A backward in halves (InterleavedZeroBubble, ZBVZeroBubble, and DualPipeV's waiting halves): autograd keeps all that it saved until the weights' half
  (`retain_graph=True`, torch/distributed/pipelining/_backward.py), and so does a plan of such a program. There each product's gradient comes and each
  input goes by itself, here a segment's at once. Blocks that are made again are made twice there, and both stay: none of them was asked about.
- Peaks of DualPipeV are those of `dualpipev`, messages those of torch's order as CSV: of a forward and a backward that overlap the plan's own has the backward first.
- LoopedBFS of torch takes the microbatches of a backward last first; a plan's looped-bfs takes them first to last. Here torch's order is taken as CSV.
- Logits of all microbatches are held, and joined when the schedule has ended, as torchtitan had it in 2025; its 0.3.0 passes `return_outputs=False`.
"""


def errors_of(pairs):
    return [abs(ours["peak"] / its["peak"] - 1) for kept, made in pairs for its, ours in zip(kept["ranks"], made)]


def row(schedule, pairs):
    errors = errors_of(pairs)
    ranks = [(its, ours) for kept, made in pairs for its, ours in zip(kept["ranks"], made)]
    same = sum(its["messages"] == ours["messages"] for its, ours in ranks)
    entries = sum(Counter(its["messages"].split()) == Counter(ours["messages"].split()) for its, ours in ranks)
    return (f"| {SCHEDULES[schedule][0]} | {len(pairs)} | {len(ranks)} | {100 * statistics.median(errors):.3f} | {100 * max(errors):.2f} | "
            f"{sum(each <= 0.01 for each in errors)} | {sum(len(its['messages'].split()) for its, _ in ranks)} | {entries} | {same} |")


def worst(pairs):
    every = [(abs(ours["peak"] / its["peak"] - 1), kept, rank, its, ours) for kept, made in pairs for rank, (its, ours) in enumerate(zip(kept["ranks"], made))]
    for _, kept, rank, its, ours in sorted(every, key=lambda each: each[0], reverse=True)[:SHOWN]:
        case = kept["case"]
        yield (f"| {kept['seed']} | {SCHEDULES[case['schedule']][0]} | {rank} of {case['pipeline']} x {case['chunks']} | {case['microbatches']} x {case['microbatch']} x "
               f"{case['sequence']} | {case['recompute']} | {its['peak'] / 2**20:.1f} | {100 * (ours['peak'] / its['peak'] - 1):+.2f} | {its['flight']} |")


def section(program):
    kept = json.loads((HERE / "kept_pipeline.json").read_text())
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        pairs = list(zip(kept, threads.map(lambda each: simulate_pipeline(program, each), kept)))
    by = {name: [pair for pair in pairs if pair[0]["case"]["schedule"] == name] for name in SCHEDULES}
    return f"""## Pipelines over FSDP 2

torch.distributed.pipelining's PipelineStage and schedules around fully sharded stages, rank by rank, on a fake process group; {len(pairs)} plans.
Error: of a rank's peak, in percent. Messages: sends and receives of all ranks; ranks whose messages have the same bytes, stage and microbatch, and those whose whole order is one.

| schedule | plans | ranks | median | largest | within 1 % | messages | ranks with the same | in one order |
|---|---|---|---|---|---|---|---|---|
""" + "\n".join(row(name, of) for name, of in by.items() if of) + f"""

The {SHOWN} worst; in flight: microbatches whose activations are alive at torch's peak.

| seed | schedule | rank, stages x chunks | microbatches x size x sequence | recompute | torch's peak, MiB | error, % | in flight |
|---|---|---|---|---|---|---|---|
""" + "\n".join(worst(pairs)) + "\n\n" + NOTES
