"""One rank's step under DistributedDataParallel by torch itself: real tensors (its reducer wants their memory), a fake process group.

usage: ask_ddp.py kept_ddp.json 1-60
"""
import contextlib
import pathlib
import sys

import torch
import torch.distributed as dist
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore

from cases import data_case
from counted import Counted
from keep import seeds_of, write
from network import Llama, loss_of

STEPS = 3   # buckets are dealt anew behind the first, states are made in it


def reduce(_, bucket):
    """What DDP does without a hook, which the fake group's answer to C++ does not allow."""
    dist.all_reduce(bucket.buffer())
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def step(model, optimizer, counted, case):
    tokens = torch.zeros((case["microbatch"], case["sequence"]), dtype=torch.int64)
    for index in range(case["microbatches"]):
        counted.phase = "forward"
        is_last = index + 1 == case["microbatches"]
        with contextlib.nullcontext() if is_last or case["reduce_each"] else model.no_sync():
            loss = loss_of(model(tokens), tokens)
            counted.phase = "backward"
            loss.backward()
    counted.phase = "step"
    optimizer.step()
    optimizer.zero_grad()


def ask(case):
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=case["ranks"])
    network = Llama(case["form"], case["sequence"])
    if case["recompute"] == "full":
        for name, block in list(network.layers.items()):
            network.layers[name] = checkpoint_wrapper(block, preserve_rng_state=False)
    model = DistributedDataParallel(network, bucket_cap_mb=case["bucket_mib"] or None, broadcast_buffers=False)
    model.register_comm_hook(None, reduce)
    optimizer, counted = torch.optim.AdamW(model.parameters(), fused=True), Counted()
    with counted:
        for each in [*model.parameters(), *model.buffers()]:
            counted.see(each, f"resident {tuple(each.shape)}")
        for _ in range(STEPS):
            counted.peak, counted.peaks, counted.ledger = 0, {}, []
            step(model, optimizer, counted, case)
    dist.destroy_process_group()
    return counted


def answer(seed):
    counted = ask(data_case(seed))
    return {"seed": seed, "case": data_case(seed), "peaks": {phase: counted.peaks[phase] for phase in ("forward", "backward")},
            "ledger": [list(entry) for entry in counted.ledger]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    write(pathlib.Path(sys.argv[1]), [answer(seed) for seed in seeds_of(sys.argv[2:])])
