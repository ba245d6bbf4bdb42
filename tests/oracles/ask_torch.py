"""One rank's step of a plan by torch itself, on fake tensors and a fake process group: peak and collectives, in seconds, without a device.

FSDP 2, and inside it torch.distributed.tensor where a case has tensor ranks.
"""
import contextlib
import json
import os
import sys
from collections import Counter

import torch
import torch.distributed as dist
import torch.distributed.fsdp._fully_shard._fully_shard as fully_shard_module
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import loss_parallel
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

from counted import Counted
from cut import cut
from network import Llama, loss_of



def of_real_ranks(make):
    """Meshes of ranks, whose numbers are real ones."""
    def made(*arguments):
        with unset_fake_temporarily():
            return make(*arguments)
    return made


DeviceMesh._concatenate = staticmethod(of_real_ranks(DeviceMesh._concatenate))
fully_shard_module._get_post_forward_mesh_info = of_real_ranks(fully_shard_module._get_post_forward_mesh_info)


def shard(model, mesh, case):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, cast_forward_inputs=False)
    keep = {"mesh": mesh, "mp_policy": policy}
    reshard = case["near"] if case.get("near", 1) > 1 else case["reshard"]
    fully_shard(model.tok_embeddings, **keep, reshard_after_forward=reshard)
    blocks = list(model.layers.values())
    unit = case["blocks_per_unit"]
    for first in range(0, len(blocks), unit):
        fully_shard(blocks[first:first + unit] if unit > 1 else blocks[first], **keep, reshard_after_forward=reshard)
    fully_shard([model.norm, model.output], **keep, reshard_after_forward=False)
    fully_shard(model, **keep)


SAVED = {torch.ops.aten.mm.default, torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default}


def saved_by_operator():
    """torchtitan's choice: attention and every second product of a block stay, all else is made again."""
    products = Counter()

    def policy(context, operator, *arguments, **words):
        products[context.is_recompute] += operator == torch.ops.aten.mm.default
        is_second = operator == torch.ops.aten.mm.default and products[context.is_recompute] % 2 == 0
        return CheckpointPolicy.MUST_SAVE if operator in SAVED and not is_second else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


def ask(case, counted=None):
    tensor = case.get("tensor", 1)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=case["ranks"] * tensor)
    replicas = case.get("replicas", 1)
    mesh = dist.device_mesh.init_device_mesh("cpu", (replicas, case["ranks"] // replicas, tensor), mesh_dim_names=("copies", "data", "tensor"))
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = Llama(case["form"], case["sequence"])
        if tensor > 1:
            cut(model, mesh["tensor"])
        counted = counted or Counted()
        if case["recompute"] != "none":
            context = {"context_fn": saved_by_operator} if case["recompute"] == "op" else {}
            for name, block in list(model.layers.items()):
                model.layers[name] = checkpoint_wrapper(block, preserve_rng_state=False, **context)
        shard(model, mesh["copies", "data"] if replicas > 1 else mesh["data"], case)
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        shape = (case["microbatch"], case["sequence"])
        with counted, loss_parallel() if tensor > 1 else contextlib.nullcontext():
            for each in [*model.parameters(), *model.buffers()]:
                counted.see(getattr(each, "_local_tensor", each), f"resident {tuple(each.shape)}")
            for step in range(2):
                counted.peak, counted.peaks, counted.ledger = 0, {}, []
                for index in range(case["microbatches"]):
                    counted.phase = "forward"
                    tokens = torch.zeros(shape, dtype=torch.int64)
                    labels = torch.zeros(shape, dtype=torch.int64)
                    if not case["reduce_each"]:
                        model.set_requires_gradient_sync(index + 1 == case["microbatches"])
                    loss = loss_of(model(tokens), labels)
                    counted.phase = "backward"
                    loss.backward()
                counted.phase = "step"
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).full_tensor()
                optimizer.step()
                optimizer.zero_grad()
                del loss
    dist.destroy_process_group()
    return counted


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with open(sys.argv[1]) as text:
        result = ask(json.load(text))
    print(result.peak, result.peaks, len(result.ledger))
    for where, (count, size) in sorted(result.at_peak.items(), key=lambda item: -item[1][1])[:40]:
        print(f"{size:>14} {count:>4}  {where}")
    for entry in result.ledger:
        print(*entry)
