"""Trains the model of a plan in PyTorch on one device and prints one JSON line: train_gpt.py <plan.json> <tokens.bin> <steps> <device> <how>

how: eager | compiled (torch.compile). 16-bit plans run under autocast over fp32 weights, as PyTorch's users do; AdamW is fused, attention is
scaled_dot_product_attention, the microbatches are the plan's. The other side of compare_on_device.py.
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


def precision(plan, device):
    kind = TYPES.get(plan["workload"].get("precision", "fp32"))
    return torch.autocast(device.type, kind) if kind else contextlib.nullcontext()


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def memory(device):
    """Peaks in bytes; of a CPU PyTorch knows none."""
    if device.type != "cuda":
        return {}
    return {"allocated_bytes": torch.cuda.max_memory_allocated(device), "reserved_bytes": torch.cuda.max_memory_reserved(device)}


def train(plan, tokens, steps, device, how):
    torch.manual_seed(1)
    config = gpt.Config(plan["model"])
    weights = {name: weight.detach().to(device).requires_grad_() for name, weight in eager_gpt.initial_weights(config).items()}
    adam = gpt.optimizer(weights, plan["training"], fused=True)
    loss = torch.compile(gpt.loss) if how == "compiled" else gpt.loss
    sequence, batch, micro = plan["workload"]["sequence"], plan["workload"]["global_batch"], plan["microbatch_size"]
    samples, seconds, last = (len(tokens) - 1) // sequence, [], 0.0
    for number in range(steps):
        wait(device)
        begin = time.perf_counter()
        chosen = [(number * batch + at) % samples for at in range(batch)]
        windows = torch.stack([torch.from_numpy(tokens[at * sequence : at * sequence + sequence + 1].astype(numpy.int64)) for at in chosen])
        adam.zero_grad(set_to_none=True)
        for part in windows.to(device).split(micro):
            with precision(plan, device):
                value = loss(config, weights, part[:, :-1], part[:, 1:]) * (len(part) / batch)
            value.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), plan["training"]["gradient_clip"])
        adam.step()
        last = value.item() * batch / len(part)
        wait(device)
        seconds.append(time.perf_counter() - begin)
    return {"seconds": seconds, "loss": last, **memory(device)}


if __name__ == "__main__":
    plan_path, tokens_path, steps_, device_, how_ = sys.argv[1:6]
    torch.set_num_threads(1)
    print(json.dumps(train(json.load(open(plan_path)), numpy.memmap(tokens_path, dtype=numpy.uint16), int(steps_), torch.device(device_), how_)))
