"""Matrix products and attention of LibTorch against what the device can do: roofline.py <device>. One JSON line a shape, random operands.

What a card can do: its largest product's rate and a copy's, measured first, with the same clocks. CPU: tiny shapes, to see that it works.
"""
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

PRODUCTS = {"cuda": [(8192, 8192, 8192), (16384, 768, 768), (16384, 3072, 768), (16384, 768, 3072), (8192, 2048, 2048), (8192, 8192, 2048), (8192, 2048, 8192),
                     (16384, 50304, 768), (8192, 32000, 2048)],
            "cpu": [(256, 256, 256), (128, 64, 256)]}   # tokens, outputs, inputs
ATTENTION = {"cuda": [(16, 12, 1024, 64), (8, 16, 1024, 64), (4, 32, 2048, 64), (2, 32, 4096, 128)], "cpu": [(2, 2, 64, 32)]}   # batch, heads, sequence, head_dim


def seconds_of(action, device, repeats=20):
    """Median of single calls: between events on a card."""
    for _ in range(3):
        action()
    if device != "cuda":
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            action()
            times.append(time.perf_counter() - begin)
        return statistics.median(times)
    marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for begin, end in marks:
        begin.record()
        action()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) * 1e-3 for begin, end in marks)


def say(row):
    print(json.dumps(row), flush=True)


def copy_rate(device):
    """Bytes a second, read and written."""
    count = 1 << (30 if device == "cuda" else 22)
    source, target = torch.randn(count, device=device), torch.empty(count, device=device)
    return 8 * count / seconds_of(lambda: target.copy_(source), device)


def bound(flops, number_of_bytes, peak, copy):
    return max(flops / peak, number_of_bytes / copy)


def products(device, kind, copy):
    peak = None
    for tokens, outputs, inputs in PRODUCTS[device]:
        x, weight = torch.randn(tokens, inputs, device=device, dtype=kind), torch.randn(outputs, inputs, device=device, dtype=kind)
        flops, moved = 2.0 * tokens * outputs * inputs, 2.0 * (tokens * inputs + outputs * inputs + tokens * outputs)
        seconds = seconds_of(lambda: F.linear(x, weight), device)
        peak = peak or flops / seconds
        say({"product": [tokens, outputs, inputs], "seconds": seconds, "flops_per_second": flops / seconds, "share_of_roofline": bound(flops, moved, peak, copy) / seconds})
    return peak


def attention(device, kind, peak, copy):
    for shape in ATTENTION[device]:
        q, k, v = (torch.randn(shape, device=device, dtype=kind, requires_grad=True) for _ in range(3))
        flops, moved = 2.0 * shape[0] * shape[1] * shape[2] ** 2 * shape[3], 8.0 * q.numel()   # causal: half of the pairs, two products
        with torch.no_grad():
            forward = seconds_of(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True), device)
        result = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        gradient = torch.randn_like(result)
        backward = seconds_of(lambda: torch.autograd.grad(result, (q, k, v), gradient, retain_graph=True), device)
        for name, seconds, times in (("attention forward", forward, 1.0), ("attention backward", backward, 2.5)):
            say({name: shape, "seconds": seconds, "flops_per_second": times * flops / seconds,
                 "share_of_roofline": bound(times * flops, (1 if times == 1 else 2) * moved, peak, copy) / seconds})


def main(device):
    torch.manual_seed(1)
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    copy = copy_rate(device)
    say({"copy_bytes_per_second": copy})
    attention(device, kind, products(device, kind, copy), copy)


if __name__ == "__main__":
    main(sys.argv[1])
