"""Asks torch about seeds and keeps its answers: `keep.py kept.json 1-520`, `keep.py some.json 3 17 40`, `keep.py kept_mesh.json mesh 1-60` with tensor
ranks, `keep.py kept_operators.json operators 1-40` recomputed by operators, `keep.py
kept_hybrid.json hybrid 1-60` with copies of shards. Needs torch 2.11; takes a second or two a case."""
import json
import pathlib
import sys

from ask_torch import ask
from cases import case, hybrid_case, mesh_case, operator_case

DRAWS = {"mesh": mesh_case, "operators": operator_case, "hybrid": hybrid_case}


def answer(seed, draw=case):
    counted = ask(draw(seed))
    return {"seed": seed, "case": draw(seed), "peaks": {phase: counted.peaks[phase] for phase in ("forward", "backward")},
            "ledger": [[phase, kind, size] for phase, kind, size in counted.ledger]}


def seeds_of(words):
    for word in words:
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def write(path, kept):
    path.write_text("[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in kept) + "\n]\n")


if __name__ == "__main__":
    kept, draw = [], DRAWS.get(sys.argv[2], case)
    for seed in seeds_of(sys.argv[2 + (sys.argv[2] in DRAWS):]):
        kept.append(answer(seed, draw))
        write(pathlib.Path(sys.argv[1]), kept)
