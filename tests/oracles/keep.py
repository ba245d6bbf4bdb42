"""Asks torch about seeds and keeps its answers: `keep.py kept.json 1-330` or `keep.py some.json 3 17 40`. Needs torch 2.11; takes a second or two a case."""
import json
import pathlib
import sys

from ask_torch import ask
from cases import case


def answer(seed):
    counted = ask(case(seed))
    return {"seed": seed, "case": case(seed), "peaks": {phase: counted.peaks[phase] for phase in ("forward", "backward")},
            "ledger": [[phase, kind, size] for phase, kind, size in counted.ledger]}


def seeds_of(words):
    for word in words:
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def write(path, kept):
    path.write_text("[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in kept) + "\n]\n")


if __name__ == "__main__":
    kept = []
    for seed in seeds_of(sys.argv[2:]):
        kept.append(answer(seed))
        write(pathlib.Path(sys.argv[1]), kept)
