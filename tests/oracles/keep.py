"""Asks torch about seeds FIRST to LAST and keeps its answers: `keep.py FIRST LAST kept.json`. Needs torch 2.11; takes a second a case."""
import json
import pathlib
import sys

from ask_torch import ask
from cases import case


def answer(seed):
    counted = ask(case(seed))
    gathers = [[phase, kind, size] for phase, kind, size in counted.ledger]
    return {"seed": seed, "case": case(seed), "peaks": {phase: counted.peaks[phase] for phase in ("forward", "backward")}, "ledger": gathers}


if __name__ == "__main__":
    first, last, path = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    kept = []
    for seed in range(first, last + 1):
        kept.append(answer(seed))
        path.write_text("[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in kept) + "\n]\n")
