"""One rank's step of Accelerate's FSDP 2 by the program itself: its plugin decides the units, what stays gathered and the types, of a llama of Transformers
on fake tensors and a fake process group. Runs in the environment of the programs (cmake/setup.sh programs).

usage: ask_accelerate.py kept_accelerate.json 1-40
"""
import logging
import os
import pathlib
import sys
import types

logging.disable(logging.CRITICAL)

import torch
import torch.distributed as dist
import transformers
from accelerate.utils import FullyShardedDataParallelPlugin
from accelerate.utils.fsdp_utils import fsdp2_apply_ac, fsdp2_prepare_model
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.fsdp import FSDPModule
from torch.testing._internal.distributed.fake_pg import FakeStore

import ask_torch   # noqa: F401  meshes under fake tensors
from accelerate_cases import case
from counted import Counted
from keep import seeds_of, write
from simulated import config_of


def plugin_of(case):
    plugin = FullyShardedDataParallelPlugin(fsdp_version=2, reshard_after_forward=case["reshard"], auto_wrap_policy="transformer_based_wrap",
                                            activation_checkpointing=case["recompute"] == "full")
    if case["precision"] != "fp32":
        plugin.set_mixed_precision(case["precision"])
    return plugin


def accelerator_of(case, mesh):
    """What its own functions ask of an Accelerator."""
    names = ("dp_replicate", "dp_shard") if case["replicas"] > 1 else ("dp_shard",)
    return types.SimpleNamespace(state=types.SimpleNamespace(fsdp_plugin=plugin_of(case)), torch_device_mesh=mesh, device=torch.device("cpu"), is_main_process=False,
                                 mixed_precision={"fp32": "no"}.get(case["precision"], case["precision"]),
                                 parallelism_config=types.SimpleNamespace(fsdp_dim_names=names))


def units_of(model):
    """Its groups of parameters in the order of the modules: numbers of each, and whether they stay after the forward."""
    groups = dict.fromkeys(module._get_fsdp_state()._fsdp_param_group for module in model.modules() if isinstance(module, FSDPModule))
    return [[sum(each._orig_size.numel() for each in group.fsdp_params), bool(group._reshard_after_forward)] for group in groups if group and group.fsdp_params]


def ask(case):
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=case["ranks"])
    mesh = dist.device_mesh.init_device_mesh("cpu", (case["replicas"], case["ranks"] // case["replicas"]), mesh_dim_names=("dp_replicate", "dp_shard"))
    with FakeTensorMode(allow_non_fake_inputs=True):
        config = transformers.AutoConfig.for_model(**config_of(case), attn_implementation="sdpa", use_cache=False)
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).train()
        accelerator = accelerator_of(case, mesh)
        if case["recompute"] == "full":
            model = fsdp2_apply_ac(accelerator, model)
        model = fsdp2_prepare_model(accelerator, model)
        optimizer, counted = torch.optim.AdamW(model.parameters(), fused=True), Counted()
        with counted:
            for each in [*model.parameters(), *model.buffers()]:
                counted.see(getattr(each, "_local_tensor", each), "resident")
            for _ in range(2):
                counted.peak, counted.peaks, counted.ledger = 0, {}, []
                for index in range(case["microbatches"]):
                    tokens = torch.zeros((case["microbatch"], case["sequence"]), dtype=torch.int64)
                    model.set_requires_gradient_sync(index + 1 == case["microbatches"])   # as accumulate() does
                    counted.phase = "forward"
                    loss = model(input_ids=tokens, labels=tokens).loss
                    counted.phase = "backward"
                    loss.backward()
                counted.phase = "step"
                optimizer.step()
                optimizer.zero_grad()
                del loss
            units = units_of(model)
    dist.destroy_process_group()
    return units, counted


def answer(seed):
    units, counted = ask(case(seed))
    return {"seed": seed, "case": case(seed), "units": units, "peaks": {phase: counted.peaks[phase] for phase in ("forward", "backward")},
            "ledger": [[phase, kind, size] for phase, kind, size in counted.ledger]}


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if len(sys.argv) == 2:
        import json
        _, found = ask(json.loads(pathlib.Path(sys.argv[1]).read_text()))
        print(found.peak, found.peaks)
        for where, (count, size) in sorted(found.at_peak.items(), key=lambda item: -item[1][1])[:40]:
            print(f"{size:>14} {count:>4}  {where}")
    else:
        kept = []
        for seed in seeds_of(sys.argv[2:]):
            kept.append(answer(seed))
            write(pathlib.Path(sys.argv[1]), kept)
