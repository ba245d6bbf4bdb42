"""Holds the executor's losses, gradients and weights against eager PyTorch: reference_gpt.py <folder written by export_reference>

For each case: the same initial weights and tokens; every gradient of the first step, the losses of all steps and the weights at the end.
"""
import json
import pathlib
import sys

import torch

import gpt

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}


def error(value, expected):
    return ((value - expected).norm() / expected.norm()).item()


def train(config, weights, tokens, settings):
    """Losses by step, and the gradients of the first one, before clipping."""
    adam, losses, first = gpt.optimizer(weights, settings, fused=False), [], None
    for ids, targets in zip(tokens["ids"], tokens["targets"]):
        adam.zero_grad()
        value = gpt.loss(config, weights, ids, targets)
        value.backward()
        first = first or {name: weight.grad.clone() for name, weight in weights.items()}
        torch.nn.utils.clip_grad_norm_(weights.values(), settings["gradient_clip"])
        adam.step()
        losses.append(value.detach())
    return torch.stack(losses), first


def check(case):
    stored, plan = gpt.read_safetensors(case.with_suffix(".safetensors")), json.loads(case.read_text())
    part = lambda prefix: {name.split(":")[1]: tensor for name, tensor in stored.items() if name.startswith(prefix + ":")}
    weights = {name: tensor.clone().requires_grad_() for name, tensor in part("initial").items()}
    tolerance = TOLERANCE[next(iter(weights.values())).dtype]
    losses, gradients = train(gpt.Config(plan["model"]), weights, part("tokens"), plan["training"])
    errors = {f"gradient of {name}": error(gradient, gradients[name]) for name, gradient in part("gradient").items()}
    errors["losses"] = error(part("result")["losses"], losses.double())
    # Adam divides by a root: it enlarges the rounding of small gradients, and a gradient that is zero but for rounding (a key's bias) makes
    # steps of pure noise. So weights have a wider bound, and in fp32 none.
    if tolerance < 1e-9:
        errors |= {f"weights of {name} / 100": error(weight, weights[name]) / 100 for name, weight in part("final").items()}
    worst = max(errors, key=errors.get)
    print(f"{case.stem}: worst of {len(errors)} tensors: {worst}, relative error {errors[worst]:.2e}, allowed {tolerance:.0e}")
    return errors[worst] <= tolerance


def main():
    torch.set_num_threads(1)
    cases = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
    results = [check(case) for case in cases]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
