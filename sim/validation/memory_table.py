"""Writes docs/figures/memory.md: simulated memory of published runs, by source and counter.

usage: memory_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures" / "memory.md"
FILES = sorted((ROOT / "profiles" / "published").glob("*.json"))
HEAD = """# Memory of published runs

Made by `sim/validation/memory_table.py`: mean of |simulated / measured - 1| and mean of the same with its sign, of the rank
and the counter that a row asks for (`docs/decisions/021-memory-counters.md`).

What is missing, by its cause: recomputation of single operators and a last part without blocks have no words in a plan (rows of `torchtitan-h100`,
`torchtitan-h200`, a part of `zero-bubble` and `ultrascale` are not lowered); `zero-bubble` with zb-2p ran an order that was searched for, ours is written by hand,
and deferred weight gradients leave holes that no share of the activations describes; `fms-acceleration` trains without fp32 masters, which no plan says;
`ultrascale` reads what the allocator reserved in its third step, whose holes grow with the microbatch; `torchtitan-nd` grows with context ranks by more than
keys and values do.

| rows of | source | counter | simulated: rows, error % | bias % |
|---|---|---|---|---|
"""


def scores(program, path, *arguments):
    answer = subprocess.run([program, "validate", str(path), "--json", *arguments], text=True, capture_output=True)  # 30 where some row says what none can read
    return {(one["source"], one["counter"]): one for one in json.loads(answer.stdout)["memory"]}


def rows(program):
    for path in FILES:
        for key, one in sorted(scores(program, path).items()):
            yield f"| `{path.name}` | {key[0]} | {key[1]} | {one['rows']}, {100 * one['mape']:.1f} | {100 * one['bias']:+.1f} |"


def main(program):
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(HEAD + "\n".join(rows(program)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
