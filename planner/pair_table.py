"""Writes the table of pairs in docs/figures/planner.md: pairs of published runs of one source that differ in one setting of the layout, or in two, and in nothing
else, predicted and measured. How sure the order of two plans is rests on it, and what `check` says of a change. Half a minute of processor time.

usage: pair_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import collections
import itertools
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402
import published  # noqa: E402

FIGURES = ROOT / "docs" / "figures" / "planner.md"
LAYOUT = ("tp", "pp", "cp", "ep", "etp", "vpp", "micro_batch", "zero_stage", "sequence_parallel", "schedule", "reshard_after_forward", "offload")
RECOMPUTE = ("recompute", "recompute_detail", "recompute_modules", "recompute_method", "recompute_layers")  # one setting
FOLLOW = ("dp", "num_microbatches", "partition", "overlap")  # from the others
UNTIMED = ("megatron-ci",)  # its steps are of deterministic kernels of tiny networks
APART = 0.02  # of a quotient: below it the order is noise


def step(row):
    return row.get("iteration_time_s")


def settings_between(a, b):
    """The settings that differ. One stage has no schedule; one tensor rank has no sequence to cut."""
    idle = {"schedule"} if 1 in (a.get("pp"), b.get("pp")) else set()
    idle |= {"sequence_parallel"} if 1 in (a.get("tp"), b.get("tp")) else set()
    changed = [name for name in LAYOUT if name not in idle and a.get(name) != b.get(name)]
    return changed + ["recompute"] * any(a.get(name) != b.get(name) for name in RECOMPUTE)


def pairs_of(rows, predicted, settings):
    """By source: logarithm of the predicted and of the measured quotient, and of the interval of one prediction; what differs."""
    alike = collections.defaultdict(list)
    for row in rows:
        if step(row.get("target", {})) and step(predicted.get(row["id"], {})) and row["source"]["key"] not in UNTIMED:
            rest = {key: value for key, value in row["plan"].items() if key not in (*LAYOUT, *RECOMPUTE, *FOLLOW)}
            alike[row["source"]["key"], json.dumps([row["workload"], row["hardware"], rest], sort_keys=True)].append(row)
    found = collections.defaultdict(list)
    for (source, _), group in alike.items():
        for a, b in itertools.combinations(group, 2):
            changed = settings_between(a["plan"], b["plan"])
            if len(changed) == settings:
                one, other = predicted[a["id"]], predicted[b["id"]]
                found[source].append((math.log(step(one) / step(other)), math.log(step(a["target"]) / step(b["target"])),
                                      math.log(one["iteration_time_high_s"] / step(one)), " ".join(changed)))
    return found


def order(pairs):
    """How many are apart, and how many of these are ordered as measured."""
    apart = [pair for pair in pairs if abs(pair[1]) > APART]
    return len(apart), sum((pair[0] > 0) == (pair[1] > 0) for pair in apart)


def by(name_of, pairs):
    """"tp 4 of 4, pp 3 of 5": right ones of those that are apart."""
    groups = collections.defaultdict(list)
    for pair in pairs:
        groups[name_of(pair)].append(pair)
    return ", ".join(f"{name} {order(of)[1]} of {order(of)[0]}" for name, of in sorted(groups.items()) if order(of)[0])


def rows_of(program, name, what):
    path = ROOT / "profiles" / "published" / name
    predicted = published.by_row(published.predictions(program, path))
    content, text = json.loads(path.read_text()), ""
    for settings in (1, 2):
        found = pairs_of(content if isinstance(content, list) else content["rows"], predicted, settings)
        every = [pair for pairs in found.values() for pair in pairs]
        apart, right = order(every)
        if apart == 0:
            continue
        widths = sorted(sorted(abs(pair[0] - pair[1]) for pair in pairs)[int(0.8 * len(pairs))] / (sum(pair[2] for pair in pairs) / len(pairs)) for pairs in found.values())
        source_of = {id(pair): source for source, pairs in found.items() for pair in pairs}
        parts = by(lambda pair: source_of[id(pair)], every) + ("; by setting " + by(lambda pair: pair[3], every) if settings == 1 else "")
        text += (f"| `{name}`, {what} | {settings} | {len(every)} | {apart} | {right} ({100 * right / apart:.0f} %): {parts} | "
                 f"{widths[0]:.1f} to {widths[-1]:.1f} by source |\n")
    return text


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    rows = rows_of(program, "rows.json", "fitted") + rows_of(program, "checks.json", "not fitted") + rows_of(program, "rows2.json", "not fitted")
    head = ("| rows | settings | pairs | by more than 2 % apart | of these ordered as measured | four of five quotients within, share of the interval of one prediction |\n"
            "|---|---|---|---|---|---|\n")
    marks.between(FIGURES, "pairs", head + rows)


if __name__ == "__main__":
    main()
