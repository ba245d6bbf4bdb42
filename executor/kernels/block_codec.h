// Numbers in 8 or 4 bits with a scale a block, for what crosses links: ZeRO++'s block quantization (Wang et al. 2023), and e4m3 in its place.
//
//   codes (bytes)   | code 0 | code 1 | ... | scale of block 0 | scale of block 1 | ...      scales in fp32; two int4 codes a byte, the first one low
//
// A scale is the block's largest magnitude over the format's largest number; a code is the nearest number, ties to even. A block with an infinity or
// a NaN comes back as NaN, so that what was not finite is still seen. CPU loops, elsewhere LibTorch's operators with the same numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace executor {

inline constexpr std::int64_t kBlockElements = 64;
enum class BlockFormat : std::uint8_t { Fp8, Int8, Int4 };

std::int64_t code_bytes(BlockFormat format, std::int64_t elements);  // elements: a multiple of kBlockElements

// codes: uint8 [code_bytes]; values: flat, of any floating type.
void encode_blocks(const at::Tensor& codes, const at::Tensor& values, BlockFormat format);
// The sum of what all sources say, in their order: in fp32, of fp64 values in fp64.
void decode_sum(const at::Tensor& values, std::span<const at::Tensor> sources, BlockFormat format);

}  // namespace executor
