"""A plan of GPT-2 for the tests of this folder, found once."""
import functools
import pathlib

import meshwright as mw

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "tests/cli/written_before/run"
QUESTION = {"model": "gpt2", "cluster": "h100-80gb-sxm", "devices": 8, "global_batch": 64, "sequence": 1024}


@functools.lru_cache
def ranking():
    return mw.plan(**QUESTION)


def plan():
    return ranking().best
