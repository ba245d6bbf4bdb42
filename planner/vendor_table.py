"""Writes the table of recipes in docs/figures/planner.md: of each published recipe of a vendor the step that is predicted, and the fastest plan that the planner finds for
the same network, machines, batch and numbers, in words that the program of the recipe has. Some minutes of processor time.

usage: vendor_table.py MESHWRIGHT [MOST_GPUS]   (build/planner/bin/meshwright; recipes of at most so many GPUs)
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURES, ROWS = ROOT / "docs" / "figures" / "planner.md", ROOT / "profiles" / "published" / "rows2.json"
SOURCES = ("megatron-bridge-26.06",)  # tables that vendors publish as the recipe to follow
NEAR, BUDGET = 0.02, "20s"


def rows_of(path):
    content = json.loads(path.read_text())
    return [row for row in (content if isinstance(content, list) else content["rows"]) if row["source"]["key"] in SOURCES and row["target"].get("iteration_time_s")]


def gpus(row):
    return row["hardware"]["total_gpus"]


def plans_of(program, rows, folder):
    """The file of each row's plan, of those that can be read."""
    asked = folder / "rows.json"
    asked.write_text(json.dumps(rows))
    subprocess.run([program, "validate", asked, "--plans", folder / "plans"], cwd=ROOT, capture_output=True)
    return {row["id"]: path for row in rows if (path := folder / "plans" / (row["id"].replace("/", "_") + ".json")).exists()}


def checked(program, plan):
    done = subprocess.run([program, "check", plan, "--budget", BUDGET, "--json"], cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip()}


def shortened(lines):
    """At most two of the lines to change; those that follow from others are many."""
    return "; ".join(lines[:2]) + (f"; {len(lines) - 2} more" if len(lines) > 2 else "")


def row(id_of, found, measured):
    own, best = found["result"]["step_time_seconds"], found["best"][0]["result"]["step_time_seconds"] if found["best"] else None
    if best is None:
        return "no plan", f"| {id_of} | {measured:.2f} | {own:.2f} | | | no plan of the program is safe in memory |\n"
    behind = own / best - 1
    chance = found["out_of_memory_chance_ratio"]
    verdict = "near" if behind <= NEAR else "beaten"
    reason = "" if verdict == "near" else shortened(found["best"][0].get("lines", []))
    if not found["fits"] or chance > 0.05:
        reason = f"runs out of memory with {100 * chance:.0f} %" + (f"; {reason}" if reason else "")
    gap = "" if found["gap"] is None else f"{100 * found['gap']:.1f}"
    return verdict, f"| {id_of} | {measured:.2f} | {own:.2f} | {best:.2f} | {100 * behind:.1f} | {gap} | {reason} |\n"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20
    rows = sorted((one for one in rows_of(ROWS) if gpus(one) <= most), key=gpus)
    text, verdicts = "", []
    with tempfile.TemporaryDirectory() as scratch:
        plans = plans_of(program, rows, pathlib.Path(scratch))
        for one in rows:
            found = checked(program, plans[one["id"]]) if one["id"] in plans else {"error": "a plan file has no words for its network"}
            verdict, line = ("unread", f"| {one['id']} | | | | | | {found['error']} |\n") if "error" in found else row(one["id"], found, one["target"]["iteration_time_s"])
            print(verdict, line.strip(), file=sys.stderr, flush=True)
            verdicts.append(verdict)
            text += line
    near = verdicts.count("near")
    head = (f"Of {len(verdicts)} recipes {near} are within 2 % of the best plan that is found, {verdicts.count('beaten')} are beaten"
            f"{', ' + str(len(verdicts) - near - verdicts.count('beaten')) + ' have no answer' if len(verdicts) > near + verdicts.count('beaten') else ''}. All times are predicted but the measured one.\n\n"
            "| recipe | measured, s | predicted, s | best, s | behind, % | proven gap, % | what the best changes |\n|---|---|---|---|---|---|---|\n")
    begin, end = "<!-- vendors: made by planner/vendor_table.py -->\n", "<!-- /vendors -->"
    FIGURES.write_text(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + head + text + end, FIGURES.read_text(), flags=re.S))


if __name__ == "__main__":
    main()
