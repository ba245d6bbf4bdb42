"""Writes the table of pairs in docs/figures/planner.md: pairs of published runs of one source that differ in one or two settings of the layout and in nothing
else, predicted and measured. How sure the order of two plans is rests on it. Three minutes on two cores.

usage: pair_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import collections
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures" / "planner.md"
LAYOUT = ("tp", "pp", "cp", "ep", "vpp", "micro_batch", "zero_stage", "recompute", "sequence_parallel", "schedule", "reshard_after_forward", "offload")
APART = 0.02  # of a quotient: below it the order is noise


def step(row):
    return row.get("iteration_time_s")


def pairs_of(rows, predicted):
    """By source: logarithm of the predicted and of the measured quotient, and of the interval of one prediction."""
    alike = collections.defaultdict(list)
    for row in rows:
        if step(row.get("target", {})) and step(predicted.get(row["id"], {})):
            rest = {key: value for key, value in row["plan"].items() if key not in (*LAYOUT, "dp")}
            alike[row["source"]["key"], json.dumps([row["workload"], row["hardware"], rest], sort_keys=True)].append(row)
    found = collections.defaultdict(list)
    for (source, _), group in alike.items():
        for a, b in itertools.combinations(group, 2):
            if 1 <= sum(a["plan"].get(name) != b["plan"].get(name) for name in LAYOUT) <= 2:
                one, other = predicted[a["id"]], predicted[b["id"]]
                found[source].append((math.log(step(one) / step(other)), math.log(step(a["target"]) / step(b["target"])),
                                      math.log(one["iteration_time_high_s"] / step(one))))
    return found


def row_of(program, name, what):
    path = ROOT / "profiles" / "published" / name
    with tempfile.TemporaryDirectory() as folder:
        answer = pathlib.Path(folder) / "predicted.json"
        subprocess.run([program, "validate", path, "--out", answer], cwd=ROOT, capture_output=True)  # 30 where some row says what none can read
        predicted = {row["id"]: row["predicted"] for row in json.loads(answer.read_text())["rows"] if row["status"] == "ok"}
    content = json.loads(path.read_text())
    found = pairs_of(content if isinstance(content, list) else content["rows"], predicted)
    every = [pair for pairs in found.values() for pair in pairs]
    apart = [pair for pair in every if abs(pair[1]) > APART]
    right = sum((pair[0] > 0) == (pair[1] > 0) for pair in apart)
    widths = sorted(sorted(abs(pair[0] - pair[1]) for pair in pairs)[int(0.8 * len(pairs))] / (sum(pair[2] for pair in pairs) / len(pairs)) for pairs in found.values())
    return f"| `{name}`, {what} | {len(every)} | {len(apart)} | {right} ({100 * right / len(apart):.0f} %) | {widths[0]:.1f} to {widths[-1]:.1f} by source |\n"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    rows = row_of(program, "rows.json", "fitted") + row_of(program, "checks.json", "not fitted")
    head = ("| rows | pairs | by more than 2 % apart | of these ordered as measured | four of five quotients within, share of the interval of one prediction |\n"
            "|---|---|---|---|---|\n")
    begin, end = "<!-- pairs: made by planner/pair_table.py -->\n", "<!-- /pairs -->"
    FIGURES.write_text(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + head + rows + end, FIGURES.read_text(), flags=re.S))


if __name__ == "__main__":
    main()
