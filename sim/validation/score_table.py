"""Writes the score of `meshwright validate` into sim/README.md: published runs with fitted constants, with each source left out of the fit,
and runs to which nothing is fitted; and what simulating costs. From a clean clone: build the preset planner, then run this (two minutes).

usage: score_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import json
import pathlib
import re
import subprocess
import sys

import engine_table

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "sim" / "README.md"
ROWS, CHECKS = (ROOT / "profiles" / "published" / name for name in ("rows.json", "checks.json"))


def score(program, *arguments):
    return json.loads(subprocess.run([program, "validate", "--json", *arguments], text=True, capture_output=True, check=True).stdout)


def percent(share):
    return f"{100 * share:.1f}"


def source_rows(fitted, left_out):
    without = {source["source"]: source for source in left_out["sources"]}
    yield "| source | rows | error % | left out % | bias % | in interval, left out % | worst % | worst row |\n|---|---|---|---|---|---|---|---|"
    for source in fitted["sources"]:
        other = without[source["source"]]
        yield (f"| {source['source']} | {source['rows']} | {percent(source['mape'])} | {percent(other['mape'])} | {100 * source['bias']:+.1f} | "
               f"{100 * other['coverage']:.0f} | {percent(source['worst'])} | `{source['worst_id']}` |")


def summary_rows(fitted, left_out, checks, engine):
    yield "| what | fitted | each source left out | rows nothing is fitted to | lowered and simulated, as by the planner |\n|---|---|---|---|---|"
    every = (fitted, left_out, checks, engine)
    for name, key in (("step time: mean over sources of the mean error, %", "macro_mape"), ("the same over rows, %", "micro_mape"),
                      ("median, %", "median"), ("90th percentile, %", "percentile90"), ("bias, %", "bias"),
                      ("rows in the 80 % interval, mean over sources, %", "interval_coverage")):
        yield f"| {name} | " + " | ".join(percent(one[key]) for one in every) + " |"
    yield "| Winkler score of the interval | " + " | ".join(f"{one['interval_score']:.2f}" for one in every) + " |"
    sweeps = [one["sweeps"] for one in every[:2]]
    for name, key in (("sweeps, mean over sources: regret, %", "regret"), ("pick within 1 % of the best, %", "top1")):
        yield f"| {name} | " + " | ".join(percent(one[key]) for one in sweeps) + f" | | {percent(engine['sweeps'][key])} |"
    yield "| sweeps: Spearman | " + " | ".join(f"{one['spearman']:.2f}" for one in sweeps) + f" | | {engine['sweeps']['spearman']:.2f} |"
    yield f"| memory, % | {percent(fitted['memory_mape'])} | | {percent(checks['memory_mape'])} | |"
    yield f"| memory rows in the 80 % interval, % | {percent(fitted['memory_coverage'])} | | {percent(checks['memory_coverage'])} | |"
    yield f"| out-of-memory verdicts that are right, % | {percent(fitted['out_of_memory_accuracy'])} | | | |"
    yield f"| rows predicted / with an error | {fitted['rows_predicted']} / {fitted['rows_with_error']} | | {checks['rows_predicted']} / {checks['rows_with_error']} | {engine['rows_predicted']} / cannot be lowered yet: {engine['rows_with_error']} |"


def write(name, table):
    """Between <!-- name ... --> and <!-- /name --> of README."""
    pattern = rf"<!-- {name}:.*?<!-- /{name} -->"
    text, count = re.subn(pattern, lambda _: f"<!-- {name}: made by sim/validation/score_table.py -->\n{table}\n<!-- /{name} -->", README.read_text(), flags=re.S)
    if count != 1:
        raise SystemExit(f"{README}: the place of {name} is missing")
    README.write_text(text)


def main(program):
    fitted, left_out, checks = score(program, ROWS), score(program, ROWS, "--leave-out-each"), score(program, CHECKS)
    engine = score(program, ROWS, "--engine")
    write("score", "\n".join([*summary_rows(fitted, left_out, checks, engine), "", *source_rows(fitted, left_out), "",
                              "Not fitted: " + "; ".join(f"{one['source']} {percent(one['mape'])} % ({one['rows']})" for one in checks["sources"]) + "."]))
    write("engine", "\n".join(engine_table.rows(program)))


if __name__ == "__main__":
    main(*sys.argv[1:])
