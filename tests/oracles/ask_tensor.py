"""One rank's step under torch.distributed.tensor parallelism, as torchtitan's plan of a llama cuts it (sequence parallel, loss parallel), on fake
tensors and a fake process group: what the tensor group exchanges."""
import json
import pathlib
import random
import sys

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.tensor.parallel import loss_parallel
from torch.testing._internal.distributed.fake_pg import FakeStore

from counted import Counted
from cut import cut
from network import Llama, PlainNorm, loss_of


def case(seed):
    draw = random.Random(7000 + seed)
    tensor = draw.choice([2, 4, 8])
    heads = draw.choice([8, 16])
    return {"form": {"hidden": draw.choice([32, 64]) * heads, "heads": heads, "kv_heads": draw.choice([8, heads]), "layers": draw.choice([1, 2, 3, 4]),
                     "ffn": draw.choice([256, 512, 1024]), "vocabulary": draw.choice([512, 8192, 32000])},
            "sequence": draw.choice([128, 512, 1024]), "tensor": tensor, "microbatch": draw.choice([1, 2, 4]),
            "microbatches": draw.choice([1, 1, 2]), "recompute": draw.choice(["none", "full"])}


def ask(case):
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=case["tensor"])
    mesh = dist.device_mesh.init_device_mesh("cpu", (case["tensor"],))
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = Llama(case["form"], case["sequence"], PlainNorm)
        cut(model, mesh)
        if case["recompute"] == "full":
            from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
            for name, block in list(model.layers.items()):
                model.layers[name] = checkpoint_wrapper(block, preserve_rng_state=False)
        counted = Counted()
        with counted, loss_parallel():
            for _ in range(case["microbatches"]):
                tokens = torch.zeros((case["microbatch"], case["sequence"]), dtype=torch.int64)
                counted.phase = "forward"
                loss = loss_of(model(tokens), tokens)
                counted.phase = "backward"
                loss.backward()
    dist.destroy_process_group()
    return counted


def answer(seed):
    return {"seed": seed, "case": case(seed), "ledger": [list(entry) for entry in ask(case(seed)).ledger]}


if __name__ == "__main__":
    from keep import seeds_of, write
    write(pathlib.Path(sys.argv[1]), [answer(seed) for seed in seeds_of(sys.argv[2:])])
