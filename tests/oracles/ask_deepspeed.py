"""What one rank of a DeepSpeed engine holds between two steps: parameters, gradients and optimizer states of ZeRO 0 to 3, by the engine itself on a CPU
with a fake process group. Runs in the environment of the programs (cmake/setup.sh programs).

usage: ask_deepspeed.py kept_deepspeed.json 1-40
"""
import gc
import logging
import multiprocessing
import os
import pathlib
import sys

logging.disable(logging.CRITICAL)

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from engine_cases import case
from keep import seeds_of, write
from network import Llama, PlainNorm, loss_of

KINDS = {"bf16": torch.bfloat16, "fp32": torch.float32}


def storages(tensors):
    return {each.untyped_storage()._cdata: each.untyped_storage().nbytes() for each in tensors if isinstance(each, torch.Tensor) and not each.is_meta}


def engine_of(program, model, case):
    config = {"train_micro_batch_size_per_gpu": case["microbatch"], "gradient_accumulation_steps": case["microbatches"],
              "zero_optimization": {"stage": case["zero"], "stage3_param_persistence_threshold": 0, "reduce_bucket_size": case["form"]["hidden"] ** 2},
              "bf16": {"enabled": case["precision"] == "bf16"},
              "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}}}
    return program.initialize(model=model, model_parameters=list(model.parameters()), config=config)[0]


def parts(engine, before):
    """By whose attribute a storage is; what nobody of these has is the rest."""
    optimizer, module = engine.optimizer, engine.module
    inner = getattr(optimizer, "optimizer", optimizer)
    weights = storages([*module.parameters(), *module.buffers(), *(each.ds_tensor for each in module.parameters() if hasattr(each, "ds_tensor"))])
    states = storages([value for state in inner.state.values() for value in state.values()])
    masters = storages([each for group in inner.param_groups for each in group["params"]] + list(getattr(optimizer, "fp32_partitioned_groups_flat", [])))
    gradients = storages([each.grad for each in module.parameters()])
    every = storages(each for each in gc.get_objects() if isinstance(each, torch.Tensor))
    masters = {key: size for key, size in masters.items() if key not in weights}
    named = {**weights, **states, **masters, **gradients}
    rest = {key: size for key, size in every.items() if key not in named and key not in before}
    return {name: sum(of.values()) for name, of in (("parameters", weights), ("moments", states), ("masters", masters), ("gradients", gradients), ("rest", rest))}


def ask(case):
    import deepspeed as program
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None   # a faster transport, which needs a compiler
    dist.init_process_group("fake", store=FakeStore(), rank=case["rank"], world_size=case["ranks"])
    os.environ.update({"RANK": str(case["rank"]), "WORLD_SIZE": str(case["ranks"]), "LOCAL_RANK": "0"})
    program.init_distributed(dist_backend="fake", auto_mpi_discovery=False)
    before = storages(each for each in gc.get_objects() if isinstance(each, torch.Tensor))
    engine = engine_of(program, Llama(case["form"], case["sequence"], PlainNorm), case)
    tokens = torch.zeros((case["microbatch"], case["sequence"]), dtype=torch.int64)
    after = {}
    for _ in range(case["microbatches"]):
        engine.backward(loss_of(engine(tokens), tokens))
        gc.collect()
        after = parts(engine, before)
        engine.step()
    gc.collect()
    found = {"backward": after, "step": parts(engine, before)}
    return found


def answer(seed):
    return {"seed": seed, "case": case(seed), "bytes": ask(case(seed))}


if __name__ == "__main__":
    import deepspeed   # noqa: F401  once, for all processes
    import torch._dynamo   # noqa: F401
    torch.set_num_threads(1)
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as processes:   # its groups are made once a process
        kept = []
        for each in processes.imap(answer, [*seeds_of(sys.argv[2:])]):
            write(pathlib.Path(sys.argv[1]), kept := [*kept, each])
