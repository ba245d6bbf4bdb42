"""One rank's step of a pipeline by torch itself: torch.distributed.pipelining's stages and schedules on fake tensors, a fake process group for its sends
and receives. What a rank has alive at its fullest, by what it is, and its messages in the order in which they are issued.

usage: ask_pipeline.py kept_pipeline.json 1-60
"""
import contextlib
import pathlib
import sys

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import PipelineScheduleMulti, get_schedule_class
from torch.testing._internal.distributed.fake_pg import FakeStore

import ask_torch   # noqa: F401  meshes under fake tensors
from counted import Counted, bytes_of
from keep import seeds_of, write
from network import Llama, loss_of
from pipeline_cases import SCHEDULES, case

STEPS = 2   # states of the optimizer are made in the first


class Part(torch.nn.Module):
    """One stage of a llama: whole blocks, the embedding before the first, norm and head behind the last."""

    def __init__(self, case, index):
        super().__init__()
        form, stages = case["form"], case["pipeline"] * case["chunks"]
        whole = Llama({**form, "layers": form["layers"] // stages}, case["sequence"])
        self.tok_embeddings = whole.tok_embeddings if index == 0 else None
        self.layers = whole.layers
        self.norm, self.output = (whole.norm, whole.output) if index + 1 == stages else (None, None)
        self.register_buffer("table", whole.table, persistent=False)

    def forward(self, h):
        h = h if self.tok_embeddings is None else self.tok_embeddings(h)
        for layer in self.layers.values():
            h = layer(h, self.table)
        return h if self.output is None else self.output(self.norm(h))


class Messages(Counted):
    """The same count with storages by number, so that those of the fullest moment can be named afterwards, and messages by microbatch."""

    def __init__(self, stages):
        super().__init__()
        self.stages, self.born, self.serial = stages, {}, 0
        self.full, self.flight, self.named, self.messages = {}, 0, {}, []   # messages: (phase, kind, stage, microbatch, bytes)
        for stage in stages:
            for way, phase in (("fwd", "forward"), ("bwd", "backward")):
                for end in ("send", "recv"):
                    self.follow(stage, f"get_{way}_{end}_ops", phase)

    def follow(self, stage, method, phase):
        asked = getattr(stage, method)

        def ask(microbatch):
            operations = asked(microbatch)
            for each in operations:
                self.named[each.tensor.untyped_storage()._cdata] = [phase, stage.stage_index, microbatch]
            return operations
        setattr(stage, method, ask)

    def see(self, tensor, where):
        key = tensor.untyped_storage()._cdata
        if key not in self.alive:
            self.serial += 1
            self.born[key] = self.serial
        super().see(tensor, where)

    def mark(self):
        before = self.peak
        super().mark()
        if self.peak > before:
            self.full = {self.born[key]: size for key, (size, _) in self.alive.items()}
            self.flight = sum(len(stage.fwd_cache) + len(stage.backward_state) for stage in self.stages)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._overloadpacket.__name__ if hasattr(func, "_overloadpacket") else str(func)
        if name in ("send", "recv_") and getattr(func, "namespace", "") == "c10d":
            named = self.named.get(args[0][0].untyped_storage()._cdata)
            if named:   # else what opens the connections
                self.messages.append((named[0], "send" if name == "send" else "receive", *named[1:], bytes_of(args[0])))
        return super().__torch_dispatch__(func, types, args, kwargs)

    def numbers(self, tensors):
        return {self.born.get(getattr(each, "_local_tensor", each).untyped_storage()._cdata) for each in tensors if each is not None}

    def parts(self, names):
        """Bytes of the fullest moment by name; what has none is activations."""
        parts = {name: sum(self.full.get(number, 0) for number in numbers) for name, numbers in names.items()}
        return {**parts, "rest": self.peak - sum(parts.values())}


def placed(case, rank):
    """The stages of a rank."""
    p = case["pipeline"]
    comes_up = SCHEDULES[case["schedule"]][2]
    return [chunk * p + (p - 1 - rank if comes_up and chunk % 2 else rank) for chunk in range(case["chunks"])]


def shard(part, mesh, case):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, cast_forward_inputs=False)
    keep = {"mesh": mesh, "mp_policy": policy, "reshard_after_forward": case["reshard"]}
    if part.tok_embeddings is not None:
        fully_shard(part.tok_embeddings, **keep)
    for block in part.layers.values():
        fully_shard(block, **keep)
    if part.output is not None:
        fully_shard([part.norm, part.output], **{**keep, "reshard_after_forward": False})
    fully_shard(part, **keep)


def stage_of(case, index, mesh):
    part = Part(case, index)
    if case["recompute"] == "full":
        for name, block in list(part.layers.items()):
            part.layers[name] = checkpoint_wrapper(block, preserve_rng_state=False)
    if case["ranks"] > 1:
        shard(part, mesh["data"], case)
    shape, kind = (case["microbatch"], case["sequence"]), torch.bfloat16 if case["ranks"] > 1 else torch.float32
    count = case["pipeline"] * case["chunks"]
    tokens, hidden = torch.empty(shape, dtype=torch.int64, device="meta"), torch.empty((*shape, case["form"]["hidden"]), dtype=kind, device="meta")
    logits = torch.empty((*shape, case["form"]["vocabulary"]), dtype=kind, device="meta")
    return PipelineStage(part, index, count, torch.device("cpu"), input_args=tokens if index == 0 else hidden,
                         output_args=logits if index + 1 == count else hidden, group=mesh["pipeline"].get_group())


def schedule_of(case, stages):
    kind = get_schedule_class(SCHEDULES[case["schedule"]][0])
    return kind(stages if issubclass(kind, PipelineScheduleMulti) else stages[0], case["microbatches"], loss_fn=loss_of)


def buffers(stages, which):
    return [info.buffer for stage in stages for infos in getattr(stage, which).values() for info in infos if hasattr(info, "buffer")]


def ask(case, rank):
    dist.init_process_group("fake", store=FakeStore(), rank=rank * case["ranks"], world_size=case["pipeline"] * case["ranks"])
    mesh = dist.device_mesh.init_device_mesh("cpu", (case["pipeline"], case["ranks"]), mesh_dim_names=("pipeline", "data"))
    with FakeTensorMode(allow_non_fake_inputs=True):
        stages = [stage_of(case, index, mesh) for index in placed(case, rank)]
        schedule = schedule_of(case, stages)
        parameters = [each for stage in stages for each in stage.submod.parameters()]
        optimizer, counted = torch.optim.AdamW(parameters, fused=True), Messages(stages)
        with counted:
            tables = [each for stage in stages for each in stage.submod.buffers()]
            for each in [*parameters, *tables]:
                counted.see(getattr(each, "_local_tensor", each), "resident")
            for _ in range(STEPS):
                counted.peak, counted.ledger, counted.messages, counted.phase = 0, [], [], "pipeline"
                tokens, labels = (torch.zeros((case["microbatches"] * case["microbatch"], case["sequence"]), dtype=torch.int64) for _ in range(2))
                is_last = any(stage.is_last for stage in stages)
                schedule.step(*[tokens] * any(stage.is_first for stage in stages), target=labels if is_last else None,
                              losses=[] if is_last else None, return_outputs=case["returns"])
                names = {"parameters": counted.numbers([*parameters, *tables]), "gradients": counted.numbers(each.grad for each in parameters),
                         "optimizer": counted.numbers(value for state in optimizer.state.values() for value in state.values()),
                         "inputs": counted.numbers(buffers(stages, "args_recv_info")), "waiting": counted.numbers(buffers(stages, "grad_recv_info"))}
                counted.phase = "step"
                optimizer.step()
                optimizer.zero_grad()
                del tokens, labels
    dist.destroy_process_group()
    sizes = {each[-1] for each in counted.messages}
    assert len(sizes) == 1, sizes   # all of one size, so that it is kept once
    return {"order": rows_of(schedule), "peak": counted.peak, "parts": counted.parts(names), "flight": counted.flight, "message_bytes": sizes.pop(),
            "messages": " ".join(name_of(*each[:-1]) for each in counted.messages), "collectives": [list(each[1:]) for each in counted.ledger]}


def name_of(phase, kind, stage, microbatch):
    """A message in short: F>2.0 is what stage 2 sends in the forward of microbatch 0, B<2.0 the gradient that it receives."""
    return f"{phase[0].upper()}{'>' if kind == 'send' else '<'}{stage}.{microbatch}"


def rows_of(schedule):
    """Its order as a plan takes it (schedule csv): what is computed, a row a rank."""
    computes = [[str(each) for each in row if each is not None and each.is_compute_op] for _, row in sorted(schedule.pipeline_order.items())]
    return [",".join(each for each in row) for row in computes]


def answer(seed):
    drawn = case(seed)
    asked = [ask(drawn, rank) for rank in range(drawn["pipeline"])]
    order = [each.pop("order") for each in asked][0]
    return {"seed": seed, "case": drawn, "order": order, "ranks": asked}


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), [answer(seed) for seed in seeds_of(sys.argv[2:])])
