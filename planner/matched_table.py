"""Writes the table of matched pairs in docs/figures/planner.md: runs of one source in rows2.json that differ in one field and in nothing else, by how much the predicted quotient
of their steps misses the measured one. `ultrascale` is left to pair_table.py: two runs of one plan differ by 14 % there, more than a point can say. Ten seconds.

usage: matched_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import collections
import itertools
import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402
import published  # noqa: E402

FIGURES = ROOT / "docs" / "figures" / "planner.md"
ROWS = ROOT / "profiles" / "published" / "rows2.json"
LEFT_OUT = ("ultrascale", "megatron-ci")  # one iteration a run; deterministic kernels of tiny networks
RECOMPUTE = ("recompute", "recompute_detail", "recompute_modules", "recompute_method", "recompute_layers")  # one field
FOLLOW = ("dp", "num_microbatches", "partition", "overlap", "software")
APART, NEAR = 1.02, 0.03


def step(row):
    return row["iteration_time_s"]


def fields_between(a, b):
    """Of two plans, by name."""
    changed = {name for name in {*a, *b} - {*RECOMPUTE, *FOLLOW} if a.get(name) != b.get(name)}
    return changed | ({"recompute"} if any(a.get(name) != b.get(name) for name in RECOMPUTE) else set())


def pairs_of(rows, predicted):
    """By source and field: (measured, predicted quotient), the slower run over the faster one, whether both count in a score, and both ids."""
    alike = collections.defaultdict(list)
    for row in rows:
        if predicted.get(row["id"]):
            alike[row["source"]["key"], json.dumps([row["workload"], row["hardware"]], sort_keys=True)].append(row)
    found = collections.defaultdict(list)
    for (source, _), group in alike.items():
        for a, b in itertools.combinations(group, 2):
            changed = fields_between(a["plan"], b["plan"])
            if len(changed) != 1:
                continue
            fast, slow = sorted((a, b), key=lambda row: step(row["target"]))
            measured = step(slow["target"]) / step(fast["target"])
            found[source, changed.pop()].append((measured, step(predicted[slow["id"]]) / step(predicted[fast["id"]]), slow["id"], fast["id"]))
    return found


def line(name, pairs):
    apart = [pair for pair in pairs if pair[0] > APART]
    signs = sum(pair[1] > 1 for pair in apart)
    points = [abs(pair[0] - pair[1]) for pair in pairs]
    return (f"| {name} | {len(pairs)} | {len(apart)} | {f'{signs} ({100 * signs / len(apart):.0f} %)' if apart else ''} | {100 * statistics.median(points):.1f} | "
            f"{sum(one <= NEAR for one in points)} ({100 * sum(one <= NEAR for one in points) / len(points):.0f} %) |\n")


def main():
    rows = [row for row in json.loads(ROWS.read_text()) if row["source"]["key"] not in LEFT_OUT and row["target"].get("iteration_time_s")]
    found = pairs_of(rows, published.by_row(published.predictions(pathlib.Path(sys.argv[1]).resolve(), ROWS)))
    text = "| source: field | pairs | by more than 2 % apart | of these ordered as measured | quotients apart, points, median | within 3 points |\n|---|---|---|---|---|---|\n"
    text += "".join(line(f"{source}: {field}", pairs) for (source, field), pairs in sorted(found.items()))
    text += line("all", [pair for pairs in found.values() for pair in pairs])
    marks.between(FIGURES, "matched", text)


if __name__ == "__main__":
    main()
