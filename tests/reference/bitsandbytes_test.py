"""Frozen weights in nf4, scales packed once more, beside bitsandbytes, with which QLoRA packs: its codes to the bit, and our bytes as it reads them.

bitsandbytes_test.py <folder written by export_reference>        exit code 77 (skipped) where bitsandbytes is not installed

Its loop on CPUs finds the number of a scale in a table of steps, and near the middle of two often takes the farther one. Its way for other types
than fp32 takes the nearest, as its CUDA kernel does: that one is asked, of numbers that are fp32 all the same.
"""
import pathlib
import sys

import gpt

SKIPPED, BLOCK, GROUP = 77, 64, 256
LAST_BITS = 2.0**-22   # they add the scales up in fp32, and we in fp64: their mean may end otherwise
OTHER_SCALES = 0.01   # of their loop on CPUs
CASES = pathlib.Path(sys.argv[1])

try:
    import torch
    import bitsandbytes
    from bitsandbytes import functional
except ImportError as missing:
    print(f"skipped: {missing}; install it with:  cmake/setup.sh tests")
    sys.exit(SKIPPED)


def read_by_them(parts):
    """Our bytes as a state of theirs. Of a single row: its loop on CPUs takes each row to begin with a block."""
    code = functional.create_dynamic_map(signed=True)
    scales = functional.QuantState(absmax=parts["scales"], code=code, blocksize=GROUP, dtype=torch.float32)
    state = functional.QuantState(absmax=parts["block_scales"], shape=torch.Size([1, parts["weight"].numel()]), blocksize=BLOCK, dtype=torch.float32, quant_type="nf4",
                                  code=functional.get_4bit_type("nf4", device="cpu"), offset=parts["mean"], state2=scales)
    return functional.dequantize_4bit(parts["codes"].unsqueeze(1), state).view_as(parts["weight"])


def differences(parts):
    """What is not theirs to the bit, beside the mean."""
    codes, state = functional.quantize_4bit(parts["weight"], blocksize=BLOCK, quant_type="nf4")
    packed, scales = torch.ops.bitsandbytes.quantize_blockwise((state.absmax - parts["mean"]).double(), functional.create_dynamic_map(signed=True), GROUP)
    theirs = {"codes": codes.flatten(), "block_scales": packed, "scales": scales, "numbers": read_by_them(parts)}
    found = [name for name, values in theirs.items() if not torch.equal(parts[name], values)]
    mean = state.absmax.mean()
    return found + (["mean"] if abs(parts["mean"].item() - mean.item()) > LAST_BITS * mean.item() else [])


def other_scales(parts):
    """The share of blocks for which their whole packing, by their loop on CPUs, has another scale."""
    _, state = functional.quantize_4bit(parts["weight"], blocksize=BLOCK, compress_statistics=True, quant_type="nf4")
    assert state.nested and state.state2.blocksize == GROUP
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
