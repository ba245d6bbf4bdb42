"""Writes the table of matched pairs in docs/figures/planner.md: runs of one source in rows2.json that differ in one field and in nothing else, by how much the quotient of their steps
that `check SLOW --against FAST` says misses the measured one. `ultrascale` is left to pair_table.py: two runs of one plan differ by 14 % there, more than a point can say. Some minutes.

usage: matched_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import collections
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

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


def plans_of(program, rows, folder):
    """The plan of each row that a plan file can say."""
    asked = folder / "rows.json"
    asked.write_text(json.dumps(rows))
    subprocess.run([program, "validate", asked, "--plans", folder / "plans"], cwd=ROOT, capture_output=True)
    return {row["id"]: path for row in rows if (path := folder / "plans" / (row["id"].replace("/", "_") + ".json")).exists()}


def checked(program, slow, fast):
    """What `check` says of the one against the other: the predicted quotient of their steps. Its search for a better plan is not asked for."""
    done = subprocess.run([program, "check", slow, "--against", fast, "--budget", "1ms", "--json"], cwd=ROOT, capture_output=True, text=True)
    said = json.loads(done.stdout)
    return said["result"]["step_time_seconds"] / said["before"]["result"]["step_time_seconds"]


def pairs_of(rows, quotient):
    """By source and field: (measured, predicted quotient), the slower run over the faster one, and both ids."""
    alike = collections.defaultdict(list)
    for row in rows:
        alike[row["source"]["key"], json.dumps([row["workload"], row["hardware"]], sort_keys=True)].append(row)
    found = collections.defaultdict(list)
    for (source, _), group in alike.items():
        for a, b in itertools.combinations(group, 2):
            changed = fields_between(a["plan"], b["plan"])
            if len(changed) != 1:
                continue
            fast, slow = sorted((a, b), key=lambda row: step(row["target"]))
            found[source, changed.pop()].append((step(slow["target"]) / step(fast["target"]), quotient(slow["id"], fast["id"]), slow["id"], fast["id"]))
    return found


def line(name, pairs):
    apart = [pair for pair in pairs if pair[0] > APART]
    signs = sum(pair[1] > 1 for pair in apart)
    points = [abs(pair[0] - pair[1]) for pair in pairs]
    return (f"| {name} | {len(pairs)} | {len(apart)} | {f'{signs} ({100 * signs / len(apart):.0f} %)' if apart else ''} | {100 * statistics.median(points):.1f} | "
            f"{sum(one <= NEAR for one in points)} ({100 * sum(one <= NEAR for one in points) / len(points):.0f} %) |\n")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rows = [row for row in json.loads(ROWS.read_text()) if row["source"]["key"] not in LEFT_OUT and row["target"].get("iteration_time_s")]
    with tempfile.TemporaryDirectory() as folder:
        plans = plans_of(program, rows, pathlib.Path(folder))
        found = pairs_of([row for row in rows if row["id"] in plans], lambda slow, fast: checked(program, plans[slow], plans[fast]))
    text = "| source: field | pairs | by more than 2 % apart | of these ordered as measured | quotients apart, points, median | within 3 points |\n|---|---|---|---|---|---|\n"
    text += "".join(line(f"{source}: {field}", pairs) for (source, field), pairs in sorted(found.items()))
    text += line("all", [pair for pairs in found.values() for pair in pairs])
    marks.between(FIGURES, "matched", text)


if __name__ == "__main__":
    main()
