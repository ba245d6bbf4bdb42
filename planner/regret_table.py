"""Writes the table of regret in docs/figures/planner.md: of each published sweep (one network, machine and batch, several layouts) the layout that is predicted to be
the fastest of those that run out of memory with a chance of at most 5 %, and what was measured of it.

usage: regret_table.py MESHWRIGHT [PREDICTED]   (build/planner/bin/meshwright; PREDICTED: what `validate rows2.json --out` wrote, else it is asked now: some minutes)
"""
import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402
import published  # noqa: E402

FIGURES, ROWS = ROOT / "docs" / "figures" / "planner.md", ROOT / "profiles" / "published" / "rows2.json"
RISK, LEAST = 0.05, 3  # rows of a sweep


def predictions(program, given):
    return json.loads(pathlib.Path(given).read_text()) if given else published.predictions(program, ROWS)


def sweeps_of(rows, predicted):
    """By source, machine, network and batch: rows that were measured, or ran out of memory, and have a prediction."""
    alike = collections.defaultdict(list)
    for row in rows:
        target, known = row.get("target", {}), predicted.get(row["id"])
        if known and (target.get("iteration_time_s") or target.get("oom")):
            hardware = row["hardware"]
            alike[row["source"]["key"], json.dumps(row["workload"], sort_keys=True), hardware["gpu"], hardware["total_gpus"], row["plan"].get("global_batch")].append(
                (target, known))
    for sweep in alike.values():
        sweep.sort(key=lambda one: one[1]["iteration_time_s"])
    return {key: sweep for key, sweep in alike.items() if sum(bool(target.get("iteration_time_s")) for target, _ in sweep) >= LEAST}


def outcome(sweep):
    """None: the pick ran out of memory; else by which share it was slower than the best that was measured. "nothing": no layout is safe enough."""
    safe = [(known["iteration_time_s"], target) for target, known in sweep if known["out_of_memory_chance"] <= RISK]
    if not safe:
        return "nothing"
    target = min(safe, key=lambda one: one[0])[1]
    best = min(one["iteration_time_s"] for one, _ in sweep if one.get("iteration_time_s"))
    return target["iteration_time_s"] / best - 1 if target.get("iteration_time_s") else None


def misses(key, sweep):
    """The sweep whose pick is more than 5 % behind, as a sentence."""
    regret = outcome(sweep)
    if regret == "nothing" or regret is not None and regret <= 0.05:
        return ""
    target, known = next(one for one in sweep if one[1]["out_of_memory_chance"] <= RISK)
    measured = f"{target['iteration_time_s']:.2f} s" if target.get("iteration_time_s") else "out of memory"
    best = min((one["iteration_time_s"], of["id"]) for one, of in sweep if one.get("iteration_time_s"))
    return f"- {key[0]} on {key[3]}: `{known['id']}` is predicted to take {known['iteration_time_s']:.2f} s and was measured with {measured}; the best is `{best[1]}`, {best[0]:.2f} s.\n"


def row_of(source, sweeps):
    found = [outcome(sweep) for sweep in sweeps]
    regrets = sorted(one for one in found if isinstance(one, float))
    share = lambda limit: f"{100 * sum(one <= limit for one in regrets) / len(found):.0f} %"
    mean, median = (f"{100 * value:.1f} %" for value in (sum(regrets) / len(regrets), regrets[len(regrets) // 2])) if regrets else ("-", "-")
    return (f"| {source} | {len(found)} | {sum(map(len, sweeps))} | {found.count(None)} | {found.count('nothing')} | {mean} | {median} | {share(0.01)} | {share(0.05)} |\n")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    answer = predictions(program, sys.argv[2] if len(sys.argv) > 2 else "")
    predicted = {row["id"]: {**row["predicted"], "id": row["id"]} for row in answer["rows"] if row["status"] == "ok"}
    content = json.loads(ROWS.read_text())
    by_source, behind = collections.defaultdict(list), ""
    for key, sweep in sweeps_of(content if isinstance(content, list) else content["rows"], predicted).items():
        by_source[key[0]].append(sweep)
        behind += misses(key, sweep)
    text = ("| sweeps of | sweeps | layouts | pick ran out of memory | none safe enough | mean regret | median | within 1 % of the best | within 5 % |\n"
            "|---|---|---|---|---|---|---|---|---|\n" + "".join(row_of(source, sweeps) for source, sweeps in sorted(by_source.items())))
    text += f"\nPicks that are more than 5 % behind:\n\n{behind}" if behind else ""
    marks.between(FIGURES, "regret", text)


if __name__ == "__main__":
    main()
