#!/usr/bin/env python3
"""Trains a small transformer with PyTorch for a few steps and writes what torch.profiler saw, as any program of PyTorch may:

    .deps/venv/bin/python examples/profile_training.py trace.json.gz
"""
import sys

import torch


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    layer = torch.nn.TransformerEncoderLayer(d_model=128, nhead=4, dim_feedforward=512, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, num_layers=4, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.rand(8, 64, 128)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(3):
            model(batch).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    profile.export_chrome_trace(sys.argv[1])


if __name__ == "__main__":
    main()
