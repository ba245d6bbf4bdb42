"""Weights in nf4 with scales packed once more, by bitsandbytes: blocks of 64, and of scales groups of 256.

Its loop on CPUs finds the number of a scale in a table of steps, and near the middle of two often takes the farther one. Its way for other types
than fp32 takes the nearest, as its CUDA kernel does: that one is asked, of numbers that are fp32 all the same.
"""
import torch
from bitsandbytes import functional

BLOCK, GROUP = 64, 256


def mean_of_scales(weight):
    """In fp32, as they add it up."""
    return functional.quantize_4bit(weight, blocksize=BLOCK, quant_type="nf4")[1].absmax.mean().reshape(1)


def packed(weight, mean):
    codes, state = functional.quantize_4bit(weight, blocksize=BLOCK, quant_type="nf4")
    block_scales, scales = torch.ops.bitsandbytes.quantize_blockwise((state.absmax - mean).double(), functional.create_dynamic_map(signed=True), GROUP)
    return {"codes": codes.flatten(), "block_scales": block_scales, "scales": scales, "mean": mean}


def unpacked(parts, shape):
    """Bytes as a state of theirs. Of a single row: its loop on CPUs takes each row to begin with a block."""
    scales = functional.QuantState(absmax=parts["scales"], code=functional.create_dynamic_map(signed=True), blocksize=GROUP, dtype=torch.float32)
    state = functional.QuantState(absmax=parts["block_scales"], shape=torch.Size([1, shape.numel()]), blocksize=BLOCK, dtype=torch.float32, quant_type="nf4",
                                  code=functional.get_4bit_type("nf4", device="cpu"), offset=parts["mean"], state2=scales)
    return functional.dequantize_4bit(parts["codes"].unsqueeze(1), state).view(shape)


def there_and_back(weight):
    numbers = weight.float().contiguous()
    return unpacked(packed(numbers, mean_of_scales(numbers)), numbers.shape).to(weight.dtype)
