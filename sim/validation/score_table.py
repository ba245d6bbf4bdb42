"""Writes the tables of docs/figures/accuracy.md: published runs with each source left out of the fit, runs to which nothing is fitted, and fitted ones.
From a clean clone: build the preset planner, then run this (three minutes on two cores).

usage: score_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures" / "accuracy.md"
ROWS, CHECKS, MORE = (ROOT / "profiles" / "published" / name for name in ("rows.json", "checks.json", "rows2.json"))
FIGURES_OF_TIME = (("step time: mean over sources of the mean error, %", "macro_mape"), ("the same over rows, %", "micro_mape"), ("median, %", "median"),
                   ("90th percentile, %", "percentile90"), ("bias, %", "bias"), ("rows in the 80 % interval, mean over sources, %", "interval_coverage"))


def score(program, *arguments):
    answer = subprocess.run([program, "validate", "--json", *arguments], text=True, capture_output=True)  # 30 where some row says what none can read
    return json.loads(answer.stdout)


def percent(share):
    return f"{100 * share:.1f}"


def summary_rows(left_out, checks, more, fitted):
    every = (left_out, checks, more, fitted)
    yield "| what | each source left out | not fitted: `checks.json` | not fitted: `rows2.json` | fitted |\n|---|---|---|---|---|"
    for name, key in FIGURES_OF_TIME:
        yield f"| {name} | " + " | ".join(percent(one[key]) for one in every) + " |"
    yield "| Winkler score of the interval | " + " | ".join(f"{one['interval_score']:.2f}" for one in every) + " |"
    for name, key in (("sweeps, mean over sources: regret, %", "regret"), ("pick within 1 % of the best, %", "top1")):
        yield f"| {name} | {percent(left_out['sweeps'][key])} | | {percent(more['sweeps'][key])} | {percent(fitted['sweeps'][key])} |"
    yield f"| sweeps: Spearman | {left_out['sweeps']['spearman']:.2f} | | {more['sweeps']['spearman']:.2f} | {fitted['sweeps']['spearman']:.2f} |"
    yield f"| rows predicted / with an error | {left_out['rows_predicted']} / 0 | " + " | ".join(
        f"{one['rows_predicted']} / {one['rows_with_error']}" for one in every[1:]) + " |"


def source_rows(fitted, left_out):
    within = {source["source"]: source for source in fitted["sources"]}
    yield "| source | rows | left out: error % | bias % | in interval % | fitted: error % | worst, left out % | worst row |\n|---|---|---|---|---|---|---|---|"
    for source in left_out["sources"]:
        yield (f"| {source['source']} | {source['rows']} | {percent(source['mape'])} | {100 * source['bias']:+.1f} | {100 * source['coverage']:.0f} | "
               f"{percent(within[source['source']]['mape'])} | {percent(source['worst'])} | `{source['worst_id']}` |")


def unfitted_rows(name, scored):
    yield f"| `{name}` | rows | error % | bias % | in interval % | worst % | worst row |\n|---|---|---|---|---|---|---|"
    for source in scored["sources"]:
        yield (f"| {source['source']} | {source['rows']} | {percent(source['mape'])} | {100 * source['bias']:+.1f} | {100 * source['coverage']:.0f} | "
               f"{percent(source['worst'])} | `{source['worst_id']}` |")


def few_shot_rows(program):
    """Of each source K rows are given, drawn ten times; its others are predicted."""
    yield "| given rows of each source | `checks.json`: error % | in interval % | `rows2.json`: error % | in interval % |\n|---|---|---|---|---|"
    for given in (1, 2, 4):
        scores = [score(program, path, "--given", str(given)) for path in (CHECKS, MORE)]
        yield f"| {given} | " + " | ".join(f"{percent(one['macro_mape'])} | {100 * one['interval_coverage']:.0f}" for one in scores) + " |"


def write(path, name, table):
    """Between <!-- name ... --> and <!-- /name --> of the file."""
    pattern = rf"(<!-- {name}:[^\n]*\n).*?(<!-- /{name} -->)"
    text, count = re.subn(pattern, lambda marks: f"{marks[1]}{table}\n{marks[2]}", path.read_text(), flags=re.S)
    if count != 1:
        raise SystemExit(f"{path}: the place of {name} is missing")
    path.write_text(text)


def main(program):
    left_out = score(program, ROWS, "--leave-out-each")
    fitted, checks, more = (score(program, path) for path in (ROWS, CHECKS, MORE))
    write(FIGURES, "score", "\n".join([*summary_rows(left_out, checks, more, fitted), "", *source_rows(fitted, left_out), "",
                                       *unfitted_rows("checks.json", checks), "", *unfitted_rows("rows2.json", more)]))
    write(FIGURES, "few-shot", "\n".join(few_shot_rows(program)))


if __name__ == "__main__":
    main(*sys.argv[1:])
