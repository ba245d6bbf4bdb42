"""Trains the model of a plan in eager PyTorch and prints one line of seconds a step: eager_gpt.py <plan.json> <tokens.bin> <steps>

What the executor's speed is held against: fused AdamW, scaled_dot_product_attention, gradients set to none, one thread a rank.
"""
import json
import sys
import time

import numpy
import torch

import gpt


def initial_weights(config, device="cpu"):
    def matrix(rows, columns):
        return torch.randn(rows, columns, device=device) * 0.02

    biased = config.is_gpt2
    query, key_value = config.heads * config.head_dim, config.kv_heads * config.head_dim
    weights = {"embedding.tokens.weight": matrix(config.vocabulary, config.hidden)}
    if biased:
        weights["embedding.positions.weight"] = matrix(config.positions, config.hidden)

    def norm(name):
        weights[name + ".weight"] = torch.ones(config.hidden, device=device)
        if biased:
            weights[name + ".bias"] = torch.zeros(config.hidden, device=device)

    def linear(name, outputs, inputs):
        weights[name + ".weight"] = matrix(outputs, inputs)
        if biased:
            weights[name + ".bias"] = torch.zeros(outputs, device=device)

    for layer in range(config.layers):
        block = f"layers.{layer}"
        norm(block + ".attention.norm")
        linear(block + ".attention.qkv", query + 2 * key_value, config.hidden)
        linear(block + ".attention.projection", config.hidden, query)
        norm(block + ".mlp.norm")
        linear(block + ".mlp.up", config.ffn * (1 if biased else 2), config.hidden)
        linear(block + ".mlp.down", config.hidden, config.ffn)
    norm("head.norm")
    if not config.tied:
        weights["head.weight"] = matrix(config.vocabulary, config.hidden)
    return {name: weight.requires_grad_() for name, weight in weights.items()}


def step(config, weights, adam, batches, plan):
    adam.zero_grad(set_to_none=True)
    for ids, targets in batches:
        (gpt.loss(config, weights, ids, targets) / len(batches)).backward()
    torch.nn.utils.clip_grad_norm_(weights.values(), plan["training"]["gradient_clip"])
    adam.step()


def main():
    plan, tokens, steps = json.load(open(sys.argv[1])), numpy.memmap(sys.argv[2], dtype=numpy.uint16), int(sys.argv[3])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = gpt.Config(plan["model"])
    weights = initial_weights(config)
    adam = gpt.optimizer(weights, plan["training"], fused=True)
    sequence, batch, micro = plan["workload"]["sequence"], plan["workload"]["global_batch"], plan["microbatch_size"]
    samples = (len(tokens) - 1) // sequence
    for number in range(steps):
        begin = time.perf_counter()
        chosen = [(number * batch + at) % samples for at in range(batch)]
        windows = torch.stack([torch.from_numpy(tokens[at * sequence : at * sequence + sequence + 1].astype(numpy.int64)) for at in chosen])
        step(config, weights, adam, [(part[:, :-1], part[:, 1:]) for part in windows.split(micro)], plan)
        print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
