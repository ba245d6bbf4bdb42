#!/usr/bin/env python3
"""1,000 simulations in Python beside the same in C++, in turns: -> docs/figures/python.md.

    tests/python/sweep_table.py SWEEP [--write]      SWEEP: build/planner/bin/sweep; run by a Python that has the package
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import meshwright as mw

COUNT, ROUNDS = 1000, 7
SUBJECTS = (("GPT-2, 8 devices, data 8", {"data": 8, "pipeline": 1, "microbatch": 8}), ("GPT-2, 8 devices, data 2 pipeline 4", {"data": 2, "pipeline": 4, "microbatch": 1}))


def in_python(plan):
    began = time.process_time()
    for _ in range(COUNT):
        mw.simulate(plan)
    return time.process_time() - began


def main():
    sweep = sys.argv[1]
    best = mw.plan("gpt2", "h100-80gb-sxm", devices=8, global_batch=64, sequence=1024, top=1).best
    lines = [f"# {COUNT:,} simulations in Python beside C++", "",
             "Made by `tests/python/sweep_table.py`: median of the ratios of " + f"{ROUNDS} rounds in turns; processor time.", "",
             "| plan | tasks | Python | C++ | ratio |", "|---|---|---|---|---|"]
    for name, fields in SUBJECTS:
        plan = best.replace(**fields)
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            plan.save(file.name)
            rounds = [(in_python(plan), float(subprocess.run([sweep, file.name, str(COUNT)], text=True, capture_output=True, check=True).stdout)) for _ in range(ROUNDS)]
        ratio = statistics.median(ours / theirs for ours, theirs in rounds)
        ours, theirs = (statistics.median(column) for column in zip(*rounds))
        lines.append(f"| {name} | {mw.simulate(plan).tasks} | {ours:.3f} s | {theirs:.3f} s | {ratio:.3f} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if "--write" in sys.argv[2:]:
        pathlib.Path(__file__).resolve().parents[2].joinpath("docs/figures/python.md").write_text(text)


if __name__ == "__main__":
    main()
