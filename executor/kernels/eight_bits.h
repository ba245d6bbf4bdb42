// Numbers as a matrix unit of 8 bit reads them, held in fp32 or fp64: scaled, rounded to a format, scaled back; and those numbers themselves for units.
// Formats and scales: executor/kernels/eight_bit_code.h.
//
// What is larger than a format's largest number becomes that (saturates), ties go to even. CPU and GPU alike: LibTorch's own casts. On a CPU numbers are
// rounded in one pass, so that nothing but the result is made.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "executor/kernels/eight_bit_code.h"

namespace executor {

// Rows and columns of a matrix that share a scale; the last tile of a row or a column may be smaller.
struct Tile {
  std::int64_t rows = 1, columns = 1;
};
// numbers [rows, columns], of any strides -> the largest magnitude of each tile [tiles down, tiles across], in fp32, of fp64 numbers in fp64.
at::Tensor largest_of_tiles(const at::Tensor& numbers, Tile tile);
// 1 where the largest magnitude is 0. In the type of `largest`.
at::Tensor scales_of(const at::Tensor& largest, EightBits format, ScaleRule rule);
at::ScalarType type_of(EightBits format);  // LibTorch's
struct UnitForm {
  EightBits format;
  ScaleRule rule;
  bool is_turned;  // the unit's rows are the numbers' columns
  Tile tile;       // of the numbers; sides are powers of two, or more than there is
};
struct UnitOperand {
  at::Tensor codes,
      inverse;  // float8 [m, k]; what they are multiplied with, a tile each: fp32, of Shared an 8-bit exponent, in the unit's order (UnitScales)
};
// What a unit is given. numbers: fp32 or of 16 bit [m, k], or turned [k, m]. largest: fp32, of its tiles. On a GPU one kernel, elsewhere LibTorch's operators,
// with the same bits.
UnitOperand unit_operand(const at::Tensor& numbers, const at::Tensor& largest, const UnitForm& form);
// numbers [rows, columns], of any strides. scales [tiles down, tiles across], in the type of the result: fp32, or fp64 of fp64 numbers.
at::Tensor rounded(const at::Tensor& numbers, const at::Tensor& scales, EightBits format, Tile tile);

}  // namespace executor
