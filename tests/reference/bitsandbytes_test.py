"""Frozen weights in nf4, scales packed once more, beside bitsandbytes, with which QLoRA packs: its codes to the bit, and our bytes as it reads them.

bitsandbytes_test.py <folder written by export_reference>        exit code 77 (skipped) where bitsandbytes is not installed
"""
import pathlib
import sys

import gpt

SKIPPED = 77
LAST_BITS = 2.0**-22   # they add the scales up in fp32, and we in fp64: their mean may end otherwise
OTHER_SCALES = 0.01   # of their loop on CPUs: nf4.py
CASES = pathlib.Path(sys.argv[1])

try:
    import torch
    import bitsandbytes
    import nf4
except ImportError as missing:
    print(f"skipped: {missing}; install it with:  cmake/setup.sh tests")
    sys.exit(SKIPPED)


def differences(parts):
    """What is not theirs to the bit, beside the mean."""
    theirs = nf4.packed(parts["weight"], parts["mean"]) | {"numbers": nf4.unpacked(parts, parts["weight"].shape)}
    found = [name for name, values in theirs.items() if not torch.equal(parts[name], values)]
    mean = nf4.mean_of_scales(parts["weight"]).item()
    return found + (["mean"] if abs(parts["mean"].item() - mean) > LAST_BITS * mean else [])


def other_scales(parts):
    """The share of blocks for which their whole packing, by their loop on CPUs, has another scale."""
    _, state = nf4.functional.quantize_4bit(parts["weight"], blocksize=nf4.BLOCK, compress_statistics=True, quant_type="nf4")
    assert state.nested and state.state2.blocksize == nf4.GROUP
    return (parts["block_scales"] != state.absmax.flatten()).double().mean().item()


def other_half(parts):
    parts["codes"] = parts["codes"] << 4 | parts["codes"] >> 4


def neighbours_scale(parts):
    parts["block_scales"] = parts["block_scales"].roll(1)


def without_mean(parts):
    parts["mean"] = torch.zeros_like(parts["mean"])


def check(name, parts):
    wrong, unseen = differences(parts), []
    for bug in (other_half, neighbours_scale, without_mean):
        planted = dict(parts)
        bug(planted)
        if not differences(planted):
            unseen.append(bug.__name__)
    other = other_scales(parts)
    print(f"{name}: {tuple(parts['weight'].shape)}, {parts['block_scales'].numel()} blocks: other than theirs: {wrong}; planted bugs unseen: {unseen}; "
          f"other scales by their loop: {other:.2%}")
    return not wrong and not unseen and other < OTHER_SCALES


def main():
    torch.set_num_threads(1)
    cases = {}
    for name, tensor in gpt.read_safetensors(CASES / "packed.safetensors").items():
        part, case = name.split(":")
        cases.setdefault(case, {})[part] = tensor
    results = [check(name, parts) for name, parts in cases.items()]
    print(f"bitsandbytes {bitsandbytes.__version__}, {len(results)} weights")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
