"""Writes docs/figures/memory.md: simulated memory of published runs, by source and counter.

usage: memory_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures" / "memory.md"
FILES = sorted((ROOT / "profiles" / "published").glob("*.json"))
HEAD = """# Memory of published runs

Made by `sim/validation/memory_table.py`: mean of |simulated / measured - 1| and mean of the same with its sign, of the rank
and the counter that a row asks for (`docs/decisions/021-memory-counters.md`).

What is seen, and what is not modelled: `bloom-prequel` in twelve stages is 6 % low with two and four samples a microbatch and 4 % high with one, by a cause that is not known.
Of `fms-acceleration` models with adapters lie within 6 % (`docs/decisions/660-losses-in-pieces.md`, `661-what-fsdp-holds-of-frozen-blocks.md`), but SantaCoder's (28 to 38 % low) and `baseline`
on one device (17 to 24 % low), whose norms put out fp32, which no row says. Fully trained on one device PowerLM and Llama lie within 1 %, whose
measured peak is the optimizer's, five times the weights (`docs/decisions/821-what-pytorch-keeps-around-a-step.md`), SantaCoder up to 21 % high. Llama on several is 17 to 53 % low: its rows say 16 bit, but 74.8 GiB on two devices and 37.4 on four are 20 bytes a weight, fp32 throughout.
`ultrascale` is low where tensor ranks are used (-7 to -16 %; without them within 7 %): it reads what the allocator
reserved in its third step. What is missing in its runs without stages is two streams of all ranks' rows a block, whatever the ranks and samples, but in those that took more than 1.25 times the predicted step, where nothing is: gradients that tensor ranks reduce, which the
allocator holds (`docs/decisions/914-gradients-that-the-allocator-holds.md`). The interval reaches up by them. `torchtitan-nd` grows with context ranks by more than keys and values do; 70B without asynchronous tensor parallelism is 9 % low, as it is priced
like the asynchronous run, which took 4 GiB less. `megatron-ci` lies within 3 % in 108 of 132 rows (dense networks 1.6 % on the mean, experts 3.4): one of six rows of
Megatron's own FSDP is 28 % low, and two rows whose modules send what they save to the host are 10 and 11 %. How blocks that are made again operator by operator keep what they keep was counted in torch (`oracles.md`).
`torchtune`'s five are 25 to 92 % high. `8B-full-4090` steps in the backward, by moments that its recipe pages (`docs/decisions/958-steps-in-the-backward.md`, `953-moments-in-managed-memory.md`; 101 % high without the second word, 175 without both). The other four train adapters, whose
recipes have no such word. All five cut their loss in pieces and keep the logits, for which a plan has no word (`docs/decisions/660-losses-in-pieces.md`).
Rows of `words.json` are told in `residuals.md`, "Rows of words that no other row says".

| rows of | source | counter | simulated: rows, error % | bias % |
|---|---|---|---|---|
"""


CHANCES = """
## Reliability

Of the plans that `plan` and `check` call safe by so much, how many ran out of memory. Nothing is fitted to those of `rows2.json`; by those of `rows.json` the width of unknown programs was chosen. With one width for all programs, of those said 1 to 5 % two of 9 and five of 14 failed, of those said 5 to 20 % two of 5 and nine of 17.

"""
INTERVALS = """
Of measured peaks how many lie in the interval that should hold four of five, its mean half width, and its Winkler score (mean width, and ten times what is missed, of the measured peak), beside one width of 6 % for all programs
(`memory_interval`, `profiles/behavior/common.json`). What makes it wider: `profiles/behavior/memory.json`, `docs/decisions/913-an-interval-of-memory-by-what-is-new.md`. `megatron-bridge-skills` states "GB as published": of Moonlight all
rows are 11 % lower, whatever they recompute, of Llama 70B 12 % lower to 7 % higher, and no property of a plan tells them from `megatron-ci`'s.

"""
LEFT_OUT = """
What a program adds to the width was chosen by its runs. Left out: chosen by other sources of the same program, or where there is none by those of other programs that were modelled from their code alone, by the least Winkler score, mean over these sources.
Two runs are all of DeepSpeed's, and `seq1f1b` is the only source with slices, by which their width was chosen. An unknown program's is told in `profiles/behavior/memory.json`.

"""
NOVELTY = json.loads((ROOT / "profiles" / "behavior" / "memory.json").read_text())
BASE = json.loads((ROOT / "profiles" / "behavior" / "common.json").read_text())["constants"]["memory_interval"]["value"]
EDGES = [0, 0.01, 0.05, 0.2, 0.5, 0.95, 1.01]


def scores(program, path):
    """What is scored, by source and counter, and each row's prediction beside what was measured."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        answer = subprocess.run([program, "validate", str(path), "--json", "-o", out.name], text=True, capture_output=True)  # 30 where some row says what none can read
        rows = json.loads(pathlib.Path(out.name).read_text())["rows"]
    predicted = {row["id"]: {**row["predicted"], "program": row["speed_of"]["program"]} for row in rows if row["status"] == "ok"}
    pairs = [({**predicted[row["id"]], "source": row["source"]["key"]}, row["target"]) for row in json.loads(path.read_text()) if row["id"] in predicted and "target" in row]
    return {(one["source"], one["counter"]): one for one in json.loads(answer.stdout)["memory"]}, pairs


def error_rows(path, found):
    for key, one in sorted(found.items()):
        yield f"| `{path.name}` | {key[0]} | {key[1]} | {one['rows']}, {100 * one['mape']:.1f} | {100 * one['bias']:+.1f} |"


def chance_row(path, pairs):
    cells = []
    for low, high in zip(EDGES, EDGES[1:]):
        judged = [(chance, there["oom"]) for here, there in pairs if "oom" in there and low <= (chance := here["out_of_memory_chance"]) < high]
        failed = sum(oom for _, oom in judged)
        cells.append(f"{failed} of {len(judged)}, {100 * sum(chance for chance, _ in judged) / len(judged):.1f} % said" if judged else "")
    return f"| `{path.name}` | " + " | ".join(cells) + " |"


def judged(low, high, measured):
    """Inside or not, half width, Winkler score of an 80 % interval."""
    missed = max(0, low - measured, measured - high)
    return low <= measured <= high, math.sqrt(high / low) - 1, (high - low + 10 * missed) / measured


def peaks(pairs):
    return [(here, there["memory_gb"]) for here, there in pairs if there.get("memory_gb")]


def means(of):
    return [sum(column) / len(of) for column in zip(*of)]


def cells(of):
    inside, width, winkler = means(of)
    return f"{100 * inside:.0f} | {100 * width:.0f} | {winkler:.2f}"


def interval_rows(name, pairs):
    found = {"all": peaks(pairs)}
    for here, measured in found["all"]:
        found.setdefault(here["source"], []).append((here, measured))
    for source, of in found.items() if len(found) > 2 else [*found.items()][1:]:
        before = [judged(here["memory_gb"] / (1 + BASE), here["memory_gb"] * (1 + BASE), measured) for here, measured in of]
        now = [judged(here["memory_low_gb"], here["memory_high_gb"], measured) for here, measured in of]
        yield f"| `{name}` | {source} | {len(of)} | {cells(before)} | {cells(now)} |"


def novelty_of(program):
    return NOVELTY["programs"].get(program, NOVELTY["unknown_program"])["value"]


def with_novelty(here, novelty):
    """The interval, did its program add that much to the width."""
    width = here["memory_gb"] / here["memory_low_gb"] - 1
    held = here["memory_high_gb"] - here["memory_gb"] * (1 + width)
    width = math.sqrt(max(0, width**2 - novelty_of(here["program"]) ** 2) + novelty**2)
    return here["memory_gb"] / (1 + width), here["memory_gb"] * (1 + width) + held


def score_of(novelty, of):
    return [judged(*with_novelty(here, novelty), measured) for here, measured in of]


def chosen(sources):
    """The least Winkler score, mean over sources."""
    return min((step / 100 for step in range(60)), key=lambda novelty: sum(means(score_of(novelty, of))[2] for of in sources) / len(sources))


def left_out_rows(pairs):
    sources = {}
    for here, measured in peaks(pairs):
        if novelty_of(here["program"]) > 0:
            sources.setdefault((here["source"], here["program"]), []).append((here, measured))
    for (source, program), of in sorted(sources.items()):
        others = {key: rows for key, rows in sources.items() if key[0] != source}
        same = [rows for (_, of_program), rows in others.items() if of_program == program]
        novelty = chosen(same or [*others.values()])
        yield f"| {source} | {program} | {len(of)} | {'the program' if same else 'other programs'} | {cells(score_of(novelty, of))} |"


def main(program):
    found = {path: scores(program, path) for path in FILES}
    errors = [row for path, (table, _) in found.items() for row in error_rows(path, table)]
    ends = [f"{100 * low:g} to {100 * min(high, 1):g} %" for low, high in zip(EDGES, EDGES[1:])]
    chances = ["| ran out of memory, of those said | " + " | ".join(ends) + " |", "|---" * (len(ends) + 1) + "|"]
    chances += [chance_row(path, pairs) for path, (_, pairs) in found.items() if any("oom" in there for _, there in pairs)]
    intervals = ["| measured peaks of | source | rows | one width: in it % | half width % | Winkler | by what is new: in it % | half width % | Winkler |", "|---" * 9 + "|"]
    intervals += [row for path, (_, pairs) in found.items() for row in interval_rows(path.name, pairs)]
    left_out = ["| source left out | program | rows | its width from | in it % | half width % | Winkler |", "|---" * 7 + "|"]
    left_out += left_out_rows([pair for _, pairs in found.values() for pair in pairs])
    sections = [HEAD, *errors, CHANCES, *chances, INTERVALS, *intervals, LEFT_OUT, *left_out]
    FIGURES.write_text("\n".join(one.removesuffix("\n") if one in (HEAD, CHANCES, INTERVALS, LEFT_OUT) else one for one in sections) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
