"""Writes the tables of docs/figures/accuracy.md, and the short one of README.md: published runs with each source left out of the fit, runs to which nothing is fitted, and fitted ones.
From a clean clone: build the preset planner, then run this (half an hour on two cores).

usage: score_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import marks

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES, README = ROOT / "docs" / "figures" / "accuracy.md", ROOT / "README.md"
ROWS, CHECKS, MORE, *OTHERS = (ROOT / "profiles" / "published" / name for name in ("rows.json", "checks.json", "rows2.json", "words.json", "strangers.json", "mlperf.json", "newcomers.json", "visitors.json", "arrivals.json"))
FIGURES_OF_TIME = (("step time: mean over sources of the mean error, %", "macro_mape"), ("the same over rows, %", "micro_mape"), ("median, %", "median"),
                   ("90th percentile, %", "percentile90"), ("bias, %", "bias"), ("rows in the 80 % interval, mean over sources, %", "interval_coverage"))


def score(program, *arguments):
    """The score, and with it what was predicted of each row."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        answer = subprocess.run([program, "validate", "--json", "--out", out.name, *arguments], text=True, capture_output=True)  # 30: rows that none can read
        rows = json.load(open(out.name))["rows"]
    return {**json.loads(answer.stdout), "predictions": {row["id"]: row["predicted"] for row in rows if row["status"] == "ok"}}


def percent(share):
    return f"{100 * share:.1f}"


def summary_rows(left_out, unfitted, fitted):
    """unfitted: (path, score)."""
    every = (left_out, *(scored for _, scored in unfitted), fitted)
    yield "| what | each source left out | " + " | ".join(f"not fitted: `{path.name}`" for path, _ in unfitted) + " | fitted |\n" + "|---" * (len(every) + 1) + "|"
    for name, key in FIGURES_OF_TIME:
        yield f"| {name} | " + " | ".join(percent(one[key]) for one in every) + " |"
    yield "| Winkler score of the interval | " + " | ".join(f"{one['interval_score']:.2f}" for one in every) + " |"
    swept = [left_out, *(scored for path, scored in unfitted if path == MORE), fitted]
    for name, key, shown in (("sweeps, mean over sources: regret, %", "regret", percent), ("pick within 1 % of the best, %", "top1", percent), ("sweeps: Spearman", "spearman", "{:.2f}".format)):
        yield f"| {name} | " + " | ".join(shown(one["sweeps"][key]) if one in swept else "" for one in every) + " |"
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


def readme_rows(left_out, unfitted):
    """What a stranger's run may expect, and who was missed most."""
    yield "| step times of published runs | rows | mean error over sources, % | bias, % | in the 80 % interval, % | sources that are missed most |\n|---|---|---|---|---|---|"
    for what, one in (("fitted, each source by the others", left_out), *((f"`{path.name}`, not fitted", scored) for path, scored in unfitted)):
        worst = sorted(one["sources"], key=lambda source: source["mape"], reverse=True)[:3]
        yield (f"| {what} | {one['rows_predicted']} | {percent(one['macro_mape'])} | {100 * one['bias']:+.1f} | {percent(one['interval_coverage'])} | "
               + ", ".join(f"{source['source']} {100 * source['mape']:.0f} %" for source in worst) + " |")


def order_rows(left_out, checks, more):
    """Every pair of one sweep and one program, by how sure its order was said to be."""
    yield "| chance said | each source left out: pairs | said % | held % | `checks.json`: pairs | said % | held % | `rows2.json`: pairs | said % | held % |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    upper = [order["from"] for order in left_out["orders"][1:]] + [1]
    for at, above in enumerate(upper):
        orders = [one["orders"][at] for one in (left_out, checks, more)]
        figures = " | ".join(f"{order['pairs']} | {percent(order['said'])} | {percent(order['held'])}" if order["pairs"] else "0 | | " for order in orders)
        yield f"| {100 * orders[0]['from']:.0f} to {100 * above:.0f} % | {figures} |"
    yield "| surprise, nats, mean over sources | " + " | | | ".join(f"{one['order_surprise']:.3f}" for one in (left_out, checks, more)) + " | | |"


def headline_rows(path):
    content = json.loads(path.read_text())
    return [row for row in (content["rows"] if isinstance(content, dict) else content) if row.get("headline") and row["target"].get("iteration_time_s")]


def program_of(row):
    return row["plan"]["software"]["framework"]


def network_of(row):
    """What the simulator tells apart: kinds of layers, and rows of queries over ranks."""
    work = row["workload"]
    attention = work.get("attention") or {}
    return work["kind"], bool(work.get("moe")), attention.get("kind"), bool(work.get("lora")), (row["plan"].get("cp") or 1) > 1


def year_of(row):
    return row["plan"]["software"].get("year") or 0


# What of a row no run has that its prediction was fitted to. The last four stand in no fitted row at all.
NOVELTIES = (
    ("nothing", lambda row, known: all(not is_new(row, known) for name, is_new in NOVELTIES[1:])),
    ("the part", lambda row, known: all(row["hardware"]["gpu"] != one["hardware"]["gpu"] for one in known)),
    ("the program", lambda row, known: all(program_of(row) != program_of(one) for one in known)),
    ("a later year of the program", lambda row, known: any(map(same_program(row), known)) and year_of(row) > max(map(year_of, filter(same_program(row), known)))),
    ("kinds of layers, context ranks", lambda row, known: all(network_of(row) != network_of(one) for one in known)),
    ("more than twice the devices", lambda row, known: any(map(same_program(row), known)) and row["hardware"]["total_gpus"] > 2 * max(one["hardware"]["total_gpus"] for one in filter(same_program(row), known))),
    ("adapters", lambda row, known: bool(row["workload"].get("lora"))),
    ("experts", lambda row, known: bool(row["workload"].get("moe"))),
    ("a card for desks", lambda row, known: row["hardware"]["gpu"].startswith("RTX")),
    ("states on the host", lambda row, known: row["plan"].get("offload") not in (None, "none")),
)


def same_program(row):
    return lambda one: program_of(one) == program_of(row)


def interval_figures(pairs):
    """Rows, sources, share in the interval, mean half width, Winkler score."""
    inside, width, winkler = 0, 0, 0
    for row, predicted in pairs:
        measured, low, high = row["target"]["iteration_time_s"], predicted["iteration_time_low_s"], predicted["iteration_time_high_s"]
        inside += low <= measured <= high
        width += high / predicted["iteration_time_s"] - 1
        winkler += (high - low + 10 * max(0, low - measured, measured - high)) / measured
    count = len(pairs)
    sources = len({row["source"]["key"] for row, _ in pairs})
    return f"{count} of {sources} | {100 * inside / count:.0f} | {100 * width / count:.0f} | {winkler / count:.2f}" if count else "0 | | | "


def novelty_rows(left_out, unfitted):
    """unfitted: (path, score). A row that is new in several ways counts for each."""
    fitted = headline_rows(ROWS)
    yield "| new in the run | each source left out: rows of sources | in interval % | half width % | Winkler | not fitted: rows of sources | in interval % | half width % | Winkler |"
    yield "|---|---|---|---|---|---|---|---|---|"
    without = {key: [one for one in fitted if one["source"]["key"] != key] for key in {row["source"]["key"] for row in fitted}}
    judged = [[(row, without[row["source"]["key"]], left_out["predictions"][row["id"]]) for row in fitted],
              [(row, fitted, scored["predictions"][row["id"]]) for path, scored in unfitted for row in headline_rows(path) if row["id"] in scored["predictions"]]]
    for name, is_new in NOVELTIES:
        yield f"| {name} | " + " | ".join(interval_figures([(row, predicted) for row, known, predicted in rows if is_new(row, known)]) for rows in judged) + " |"


def few_shot_rows(program):
    """Of each source K rows are given, drawn ten times; its others are predicted."""
    yield "| given rows of each source | `checks.json`: error % | in interval % | `rows2.json`: error % | in interval % |\n|---|---|---|---|---|"
    for given in (1, 2, 4):
        scores = [score(program, path, "--given", str(given)) for path in (CHECKS, MORE)]
        yield f"| {given} | " + " | ".join(f"{percent(one['macro_mape'])} | {100 * one['interval_coverage']:.0f}" for one in scores) + " |"


def constant_rows():
    """What `validate --fit` wrote into profiles. Where one source is all that a profile is fitted to, its fitted error says nothing of others."""
    counts, widths = 0, 0
    yield "| profile | constants | fitted to |\n|---|---|---|"
    for path in sorted((ROOT / "profiles").glob("*ware/*.json")):
        fitted = json.loads(path.read_text()).get("fitted", {})
        names = [name for name in fitted if name not in ("source", "interval", "fitted_parts")]
        counts, widths = counts + len(names), widths + ("interval" in fitted)
        if names:
            sources = re.search(r"on rows of (.*) in profiles", fitted["source"])[1]
            yield f"| {path.parent.name}/{path.stem} | {len(names)} | {sources if ',' in sources else '= ' + sources} |"
    yield f"| all | {counts}, with widths of intervals {counts + widths} | |"


def degree_rows(more):
    """The sweep of the playbook, tensor groups of one node and those over several apart."""
    swept = [(row, more["predictions"][row["id"]]) for row in headline_rows(MORE) if row["source"]["key"] == "ultrascale" and row["id"] in more["predictions"]]
    yield "| `ultrascale`, tensor degree | rows | error % | median % | bias % | in interval % |\n|---|---|---|---|---|---|"
    for name, is_asked in (("1", lambda degree: degree == 1), ("2 to 8", lambda degree: 2 <= degree <= 8), ("up to 8", lambda degree: degree <= 8), ("16 and more", lambda degree: degree > 8)):
        pairs = [(row["target"]["iteration_time_s"], predicted) for row, predicted in swept if is_asked(row["plan"].get("tp") or 1)]
        errors = [predicted["iteration_time_s"] / measured - 1 for measured, predicted in pairs]
        inside = [predicted["iteration_time_low_s"] <= measured <= predicted["iteration_time_high_s"] for measured, predicted in pairs]
        sizes = [abs(error) for error in errors]
        yield (f"| {name} | {len(pairs)} | {percent(statistics.mean(sizes))} | {percent(statistics.median(sizes))} | {100 * statistics.mean(errors):+.1f} | "
               f"{100 * statistics.mean(inside):.0f} |")


def called_rows(scored):
    """Runs that ran, of which no source says whether they fitted: who is called out of memory."""
    yield "| runs without a verdict | ran | called out of memory | of the sources |\n|---|---|---|---|"
    for path, one in scored:
        content = json.loads(path.read_text())
        measured = [row for row in (content["rows"] if isinstance(content, dict) else content) if row.get("target")]
        ran = [row for row in measured if "oom" not in row["target"] and row["id"] in one["predictions"]]
        called = collections.Counter(row["source"]["key"] for row in ran if one["predictions"][row["id"]]["oom"])
        yield f"| `{path.name}` | {len(ran)} | {called.total()} | {', '.join(f'{source} {count}' for source, count in called.most_common())} |"


def main(program):
    left_out, fitted = score(program, ROWS, "--leave-out-each"), score(program, ROWS)
    unfitted = [(path, score(program, path)) for path in (CHECKS, MORE, *OTHERS)]
    marks.between(FIGURES, "score", "\n".join([*summary_rows(left_out, unfitted, fitted), "", *source_rows(fitted, left_out),
                                               *(line for path, scored in unfitted for line in ("", *unfitted_rows(path.name, scored)))]))
    marks.between(README, "accuracy", "\n".join(readme_rows(left_out, unfitted)))
    marks.between(FIGURES, "orders", "\n".join(order_rows(left_out, *(scored for path, scored in unfitted if path in (CHECKS, MORE)))))
    marks.between(FIGURES, "constants", "\n".join(constant_rows()))
    marks.between(FIGURES, "degrees", "\n".join(degree_rows(dict(unfitted)[MORE])))
    marks.between(FIGURES, "called", "\n".join(called_rows([(ROWS, fitted), *unfitted])))
    marks.between(FIGURES, "novelty", "\n".join(novelty_rows(left_out, unfitted)))
    marks.between(FIGURES, "few-shot", "\n".join(few_shot_rows(program)))


if __name__ == "__main__":
    main(*sys.argv[1:])
