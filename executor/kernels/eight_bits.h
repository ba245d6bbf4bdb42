// Numbers as a matrix unit of 8 bit reads them, held in fp32 or fp64: scaled, rounded to a format, scaled back.
// Formats: Micikevicius et al., "FP8 Formats for Deep Learning", 2022. Scales of powers of two: OCP Microscaling Formats, 2023.
//
//   e4m3   4 bits of exponent, 3 of mantissa   largest 448      inputs and weights
//   e5m2   5 bits of exponent, 2 of mantissa   largest 57344    gradients
//
// What is larger than a format's largest number becomes that (saturates), ties go to even. CPU and GPU alike: LibTorch's own casts. On a CPU numbers are
// rounded in one pass, so that nothing but the result is made.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace executor {

enum class EightBits : std::uint8_t { E4m3, E5m2 };
// How a scale is made of the largest magnitude that it is of. Exact: that becomes the format's largest number. PowerOfTwo: the power of two at or
// below that scale. Shared: the exponent of the largest magnitude becomes the format's largest exponent (mx), so that it may saturate.
enum class ScaleRule : std::uint8_t { Exact, PowerOfTwo, Shared };

// Rows and columns of a matrix that share a scale; the last tile of a row or a column may be smaller.
struct Tile {
  std::int64_t rows = 1, columns = 1;
};
// numbers [rows, columns], of any strides -> the largest magnitude of each tile [tiles down, tiles across], in fp32, of fp64 numbers in fp64.
at::Tensor largest_of_tiles(const at::Tensor& numbers, Tile tile);
// 1 where the largest magnitude is 0. In the type of `largest`.
at::Tensor scales_of(const at::Tensor& largest, EightBits format, ScaleRule rule);
// The 8-bit numbers themselves, in LibTorch's float8 types: of scaled ones, not scaled back. scales: what broadcasts to numbers' shape.
at::Tensor eight_bit_codes(const at::Tensor& numbers, const at::Tensor& scales, EightBits format);
// numbers [rows, columns], of any strides. scales [tiles down, tiles across], in the type of the result: fp32, or fp64 of fp64 numbers.
at::Tensor rounded(const at::Tensor& numbers, const at::Tensor& scales, EightBits format, Tile tile);

}  // namespace executor
