// A token's row in the registers of a block, for the norm kernels: thread t holds columns 8 t .. 8 t + 7 of every stretch of 8 * blockDim.
#pragma once

#include <stdexcept>

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/norm_cuda.h"

namespace executor {

inline constexpr unsigned kNormThreads = 512;  // at most: 128 registers each

// kWhole: the width is a multiple of 8 and every row begins at an aligned address, so eight neighbours exist or do not together, there is no
// branch between the loads of a row, and all are under way at once. Otherwise numbers are moved one by one.
template <int kEightsOfThread, bool kIsWhole>
struct RowLayout {
  static constexpr int kEights = kEightsOfThread;
  static constexpr bool kWhole = kIsWhole;
};

template <class Wide>
struct EightWide {
  Wide at[8];
};
template <class Wide, int kEights>
struct RowPart {
  EightWide<Wide> eights[kEights];
};

__device__ __forceinline__ int first_column(int eight) {
  return static_cast<int>((static_cast<unsigned>(eight) * blockDim.x + threadIdx.x) * 8);
}

// Eight columns of a row from `column` on; those beyond the width are zero.
template <class Layout, class Number>
__device__ __forceinline__ Eight<Number> take_eight(const Number* row, int column, int width) {
  Eight<Number> values{};
  if constexpr (Layout::kWhole) {
    if (column < width) values = load_eight(row + column);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (column + i < width) values.at[i] = row[column + i];
  }
  return values;
}
template <class Number>
__device__ __forceinline__ EightWide<WideOf<Number>> widened(const Eight<Number>& values) {
  EightWide<WideOf<Number>> wide;
#pragma unroll
  for (int i = 0; i < 8; ++i) wide.at[i] = load(values.at[i]);
  return wide;
}
template <class Layout, class Number>
__device__ __forceinline__ EightWide<WideOf<Number>> load_columns(const Number* row, int column, int width) {
  return widened(take_eight<Layout>(row, column, width));
}

// Rounds what it stores, in `wide` too.
template <class Layout, class Number>
__device__ __forceinline__ void store_columns(Number* row, EightWide<WideOf<Number>>& wide, int column, int width) {
  Eight<Number> values;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    store(values.at[i], wide.at[i]);
    wide.at[i] = load(values.at[i]);
  }
  if constexpr (Layout::kWhole) {
    if (column < width) store_eight(row + column, values);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (column + i < width) row[column + i] = values.at[i];
  }
}

// What this thread will load of the row of a token that comes later.
template <class Layout, class Number>
__device__ __forceinline__ void prefetch_row(const Number* row, int width) {
#pragma unroll
  for (int e = 0; e < Layout::kEights; ++e)
    if (first_column(e) < width) prefetch(row + first_column(e));
}

// visit(eight, i) for every column of this thread that exists.
template <class Layout, class Visit>
__device__ __forceinline__ void for_each_column(int width, const Visit& visit) {
#pragma unroll
  for (int e = 0; e < Layout::kEights; ++e) {
    if (Layout::kWhole && first_column(e) >= width) continue;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (Layout::kWhole || first_column(e) + i < width) visit(e, i);
  }
}

// value(eight, i) of every column, summed over the row; every thread gets the sum.
template <class Layout, class Wide, class Value>
__device__ __forceinline__ Wide row_sum(int width, Wide* scratch, const Value& value) {
  Wide sum = 0;
  for_each_column<Layout>(width, [&](int e, int i) { sum += value(e, i); });
  return over_block(sum, scratch, [](Wide a, Wide b) { return a + b; });
}

// Threads of a block whose threads hold `eights` stretches each, at most.
inline unsigned norm_threads(std::int64_t width, int eights) {
  const std::int64_t columns = 8 * 32 * eights;  // of a warp
  return static_cast<unsigned>((width + columns - 1) / columns * 32);
}

// Calls `with` with the layout of this width and the threads of a block. are_aligned: the first rows of all tensors.
template <class With>
void by_width(std::int64_t width, bool are_aligned, int eights, const With& with) {
  if (width < 1 || width > kWidestNorm)
    throw std::invalid_argument("a norm of width " + std::to_string(width) + ": 1 to " + std::to_string(kWidestNorm) + " have a kernel");
  if (!are_aligned || width % 8 != 0) return with(RowLayout<4, false>{}, norm_threads(width, 4));
  const unsigned threads = norm_threads(width, eights);
  switch ((width / 8 + threads - 1) / threads) {
    case 1: return with(RowLayout<1, true>{}, threads);
    case 2: return with(RowLayout<2, true>{}, threads);
    case 3: return with(RowLayout<3, true>{}, threads);
    default: return with(RowLayout<4, true>{}, threads);
  }
}

template <class... Numbers>
bool all_aligned(const Numbers*... rows) {
  return (is_aligned(rows) && ...);  // null is
}

}  // namespace executor
