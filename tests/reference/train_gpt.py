"""Trains the model of a plan in PyTorch on one device and prints one JSON line: train_gpt.py <plan.json> <tokens.bin> <steps> <device> <how>

how: eager      under autocast over fp32 weights, as PyTorch's users do
     strong     16-bit weights beside fp32 masters, a padded vocabulary, angles kept, grouped heads not repeated
     compiled   strong, through torch.compile
AdamW is fused, attention is scaled_dot_product_attention, the microbatches are the plan's. The other side of compare_on_device.py.
"""
import contextlib
import json
import sys
import time

import numpy
import torch

import eager_gpt
import gpt

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def type_of(plan):
    return TYPES.get(plan["workload"].get("precision", "fp32"))


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def memory(device):
    """Peaks in bytes, asked of the allocator's own counters, as the executor asks; of a CPU PyTorch knows none."""
    if device.type != "cuda":
        return {}
    counters = torch.cuda.memory_stats(device)
    return {"requested_bytes": counters["requested_bytes.all.peak"], "allocated_bytes": counters["allocated_bytes.all.peak"],
            "reserved_bytes": counters["reserved_bytes.all.peak"]}


class Weights:
    """What is trained (masters) and what computes: the same tensors, or 16-bit copies of them."""

    def __init__(self, config, plan, device, how):
        kind = type_of(plan)
        self.masters = {name: weight.detach().requires_grad_() for name, weight in eager_gpt.initial_weights(config, device).items()}
        self.are_copies = kind is not None and how != "eager"
        self.used = {name: weight.detach().to(kind).requires_grad_() for name, weight in self.masters.items()} if self.are_copies else self.masters
        self.precision = torch.autocast(device.type, kind) if kind and how == "eager" else contextlib.nullcontext()
        self.adam = gpt.optimizer(self.masters, plan["training"], fused=True)
        self.clip = plan["training"]["gradient_clip"]

    def forget_gradients(self):
        for weight in [*self.used.values(), *self.masters.values()]:
            weight.grad = None

    def step(self):
        masters, used = list(self.masters.values()), list(self.used.values())
        if self.are_copies:
            for master, weight in zip(masters, used):
                master.grad = weight.grad.float()
        torch.nn.utils.clip_grad_norm_(masters, self.clip)
        self.adam.step()
        if self.are_copies:
            with torch.no_grad():
                torch._foreach_copy_(used, masters)


def train(plan, tokens, steps, device, how):
    torch.manual_seed(1)
    config = gpt.Config(plan["model"], strong=how != "eager")
    weights = Weights(config, plan, device, how)
    loss = torch.compile(gpt.loss) if how == "compiled" else gpt.loss
    sequence, batch, micro = plan["workload"]["sequence"], plan["workload"]["global_batch"], plan["microbatch_size"]
    samples, seconds, last = (len(tokens) - 1) // sequence, [], 0.0
    for number in range(steps):
        wait(device)
        begin = time.perf_counter()
        chosen = [(number * batch + at) % samples for at in range(batch)]
        windows = torch.stack([torch.from_numpy(tokens[at * sequence : at * sequence + sequence + 1].astype(numpy.int64)) for at in chosen])
        weights.forget_gradients()
        for part in windows.to(device).split(micro):
            with weights.precision:
                value = loss(config, weights.used, part[:, :-1], part[:, 1:]) * (len(part) / batch)
            value.backward()
        weights.step()
        last = value.item() * batch / len(part)
        wait(device)
        seconds.append(time.perf_counter() - begin)
    return {"seconds": seconds, "loss": last, **memory(device)}


if __name__ == "__main__":
    plan_path, tokens_path, steps_, device_, how_ = sys.argv[1:6]
    torch.set_num_threads(1)
    print(json.dumps(train(json.load(open(plan_path)), numpy.memmap(tokens_path, dtype=numpy.uint16), int(steps_), torch.device(device_), how_)))
