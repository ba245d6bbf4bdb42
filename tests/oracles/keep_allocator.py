"""Asks torch what its allocator reserves for steps of FSDP 2, and keeps its answers: `keep_allocator.py kept_allocator.json 1-24`. Needs torch 2.11 with CUDA's
headers; takes some ten seconds a case."""
import pathlib
import sys
import tempfile

from ask_torch import ask
from cases import large_case
from keep import seeds_of, write
from requested import Requested
from torchs_allocator import TorchsAllocator


def answer(seed, torchs):
    requested = ask(large_case(seed), Requested())
    most = {kind: max(map(int, torchs.reserved(requested.lines, kind))) for kind in ("segments", "expandable")}
    return {"seed": seed, "case": large_case(seed), "allocated": requested.most, **most}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        torchs, kept = TorchsAllocator(pathlib.Path(folder)), []
        for seed in seeds_of(sys.argv[2:]):
            kept.append(answer(seed, torchs))
            write(pathlib.Path(sys.argv[1]), kept)
