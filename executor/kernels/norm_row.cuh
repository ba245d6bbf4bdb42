// A token's row in the registers of a block, for the norm kernels: thread t holds columns 8 t .. 8 t + 7 of every stretch of 8 * blockDim.
#pragma once

#include <stdexcept>

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/norm_cuda.h"

namespace executor {

inline constexpr unsigned kNormThreads = 512;  // at most: 128 registers each

template <class Wide, int kEights>
struct RowPart {
  Wide at[kEights][8];
};

__device__ __forceinline__ std::int64_t first_column(int eight) { return (static_cast<std::int64_t>(eight) * blockDim.x + threadIdx.x) * 8; }

// Columns from `first_column` on; those beyond the width are zero.
template <int kEights, class Number>
__device__ __forceinline__ RowPart<WideOf<Number>, kEights> load_row(const Number* row, std::int64_t width) {
  RowPart<WideOf<Number>, kEights> part;
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
    const std::int64_t column = first_column(e);
    Eight<Number> values{};
    if (column + 8 <= width && is_aligned(row + column)) {
      values = load_eight(row + column);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (column + i < width) values.at[i] = row[column + i];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) part.at[e][i] = load(values.at[i]);
  }
  return part;
}

template <class Wide, int kEights>
__device__ __forceinline__ void add_to_row(RowPart<Wide, kEights>& row, const RowPart<Wide, kEights>& addend) {
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
#pragma unroll
    for (int i = 0; i < 8; ++i) row.at[e][i] += addend.at[e][i];
  }
}

// Rounds what it stores, in `part` too.
template <class Number, int kEights>
__device__ __forceinline__ void store_row(Number* row, RowPart<WideOf<Number>, kEights>& part, std::int64_t width) {
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
    const std::int64_t column = first_column(e);
    Eight<Number> values;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      store(values.at[i], part.at[e][i]);
      part.at[e][i] = load(values.at[i]);
    }
    if (column + 8 <= width && is_aligned(row + column)) {
      store_eight(row + column, values);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (column + i < width) row[column + i] = values.at[i];
    }
  }
}

// value(eight, i) of every column that exists, summed over the row; every thread gets the sum.
template <class Wide, int kEights, class Value>
__device__ __forceinline__ Wide row_sum(std::int64_t width, Wide* scratch, const Value& value) {
  Wide sum = 0;
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (first_column(e) + i < width) sum += value(e, i);
  }
  return over_block(sum, scratch, [](Wide a, Wide b) { return a + b; });
}

// Calls `with` with how many stretches of eight a thread holds, as a compile-time constant, and the threads of a block.
template <class With>
void by_width(std::int64_t width, const With& with) {
  if (width < 1 || width > kWidestNorm)
    throw std::invalid_argument("a norm of width " + std::to_string(width) + ": 1 to " + std::to_string(kWidestNorm) + " have a kernel");
  const auto call = [&]<int kEights>(std::integral_constant<int, kEights> eights) {
    const std::int64_t columns = 8 * kEights * 32;  // of a warp
    with(eights, static_cast<unsigned>((width + columns - 1) / columns * 32));
  };
  if (width <= 8 * kNormThreads) return call(std::integral_constant<int, 1>{});
  if (width <= 16 * kNormThreads) return call(std::integral_constant<int, 2>{});
  call(std::integral_constant<int, 4>{});
}

}  // namespace executor
