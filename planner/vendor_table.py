"""Writes the table of recipes in docs/figures/planner.md: of each published recipe of a vendor the step that is predicted, and the fastest plan that check finds for
the same network, machines, batch, numbers and words: what states of training are dealt, when gradients are summed and how tokens reach experts stay as the recipe
has them; degrees, microbatches, stages and recomputation are free. Some minutes of processor time.

usage: vendor_table.py MESHWRIGHT [MOST_GPUS]   (build/planner/bin/meshwright; recipes of at most so many GPUs)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

FIGURES, ROWS = ROOT / "docs" / "figures" / "planner.md", ROOT / "profiles" / "published" / "rows2.json"
SOURCES = ("megatron-bridge-26.06",)  # tables that vendors publish as the recipe to follow
NEAR, BUDGET = 0.02, "20s"
SURE, SAFE = 0.8, 0.05  # as check has them: an order that holds with less is a tie; plans above that chance to run out of memory do not compete
WORTH = 0.005  # of the step: causes that change by less are not told
EQUAL = {"zero": "zero_stage", "accumulation": "accumulation", "reshard": "reshard_after_forward", "token_dispatcher": "token_dispatcher"}  # words that stay, as the plan file has them


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


def words_of(program, plan):
    """That stay, as --fix takes them."""
    done = subprocess.run([program, "simulate", plan, "--json"], cwd=ROOT, capture_output=True, text=True)
    said = json.loads(done.stdout)["plan"]
    return [word for axis, field in EQUAL.items() for word in ("--fix", f"{axis}={json.dumps(said[field]).strip(chr(34))}")]


def checked(program, plan):
    done = subprocess.run([program, "check", plan, *words_of(program, plan), "--budget", BUDGET, "--json"], cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip()}


def percent(share):
    return f"{100 * share:.0f}" if share < 0.995 else "> 99"


def changes(best):
    """What stays is none: where it means nothing, two plans may say it differently."""
    return "; ".join(line for line in best["lines"] if line.split()[0] not in EQUAL) or "the stage cut"


def gains(found, best):
    """By cause, in milliseconds of the recipe's step: the largest first."""
    step = found["result"]["step_time_seconds"]
    before = {one["name"]: one["seconds"] for one in found["causes"]}
    changes = sorted(((one["seconds"] - before[one["name"]], one["name"]) for one in best.get("causes", [])), key=lambda one: -abs(one[0]))
    return ", ".join(f"{name} {1000 * change:+.0f} ms" for change, name in changes if abs(change) >= WORTH * step)


def verdict_of(found, best, behind):
    """What is likelier to run out of memory than competes is no answer to the same question."""
    if found["out_of_memory_chance_ratio"] > SAFE:
        return "not safe"
    if behind <= NEAR:
        return "within 2 %"
    return "tie" if best["faster_chance_ratio"] < SURE else "beaten"


def row(id_of, found, measured):
    own, chance = found["result"]["step_time_seconds"], found["out_of_memory_chance_ratio"]
    head = f"| {id_of} | {measured:.2f} | {own:.2f} | {percent(chance)} |"
    if not found["best"]:
        return "no answer", f"{head} | | | | no plan of the program is safe in memory | | |\n"
    best = found["best"][0]
    behind = own / best["result"]["step_time_seconds"] - 1
    verdict = verdict_of(found, best, behind)
    gap = "" if found["gap"] is None else f"{100 * found['gap']:.1f}"
    lines, causes = (changes(best), gains(found, best)) if behind > NEAR else ("", "")
    return verdict, (f"{head} {best['result']['step_time_seconds']:.2f} | {100 * behind:.1f} | {gap} | {percent(best['faster_chance_ratio'])} | {verdict} | "
                     f"{lines} | {causes} |\n")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20
    rows = sorted((one for one in rows_of(ROWS) if gpus(one) <= most), key=gpus)
    text, verdicts = "", []
    with tempfile.TemporaryDirectory() as scratch:
        plans = plans_of(program, rows, pathlib.Path(scratch))
        for one in rows:
            found = checked(program, plans[one["id"]]) if one["id"] in plans else {"error": "a plan file has no words for its network"}
            verdict, line = ("no answer", f"| {one['id']} | | | | | | | | {found['error']} | | |\n") if "error" in found else row(one["id"], found, one["target"]["iteration_time_s"])
            print(verdict, line.strip(), file=sys.stderr, flush=True)
            verdicts.append(verdict)
            text += line
    count = verdicts.count
    safe = len(verdicts) - count("not safe") - count("no answer")
    head = (f"Of {len(verdicts)} recipes {count('not safe')} are predicted to run out of memory with more than {100 * SAFE:.0f} %, and {count('no answer')} have no answer. Of the other {safe} "
            f"{count('within 2 %')} are within 2 % of the best plan that is found, {count('tie')} are behind by less than is sure (a tie), {count('beaten')} are beaten. "
            "All times are predicted but the measured one; changes by cause are of the recipe's step.\n\n"
            "| recipe | measured, s | predicted, s | runs out of memory, % | best, s | behind, % | proven gap, % | truly faster, % | verdict | what the best changes | by cause |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n")
    marks.between(FIGURES, "vendors", head + text)


if __name__ == "__main__":
    main()
