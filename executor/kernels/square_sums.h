// Sums of squares of fixed blocks, in fp64 and in a fixed order: the first level of the gradient norm, before ExactSum. No tensors, vector code.
//
//   block of 64: lane j adds x[j]^2, x[8 + j]^2, ..., x[56 + j]^2;   sum = ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))
#pragma once

#include <cstdint>

#include "executor/kernels/sixteen_bits.h"

namespace executor {

inline constexpr std::int64_t kSquareBlock = 64;

template <class Number>
struct SquareBlocks {
  const Number* values;
  std::int64_t blocks;  // whole ones
  double* sums;         // one a block
};
void square_sums(const SquareBlocks<float>& of);
void square_sums(const SquareBlocks<double>& of);
void square_sums(const SquareBlocks<Bfloat16Bits>& of);
void square_sums(const SquareBlocks<Float16Bits>& of);

}  // namespace executor
