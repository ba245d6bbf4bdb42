// A token's row in the registers of a block, for the norm kernels: thread t holds columns 8 t .. 8 t + 7 of every stretch of 8 * blockDim.
#pragma once

#include <stdexcept>

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/norm_cuda.h"

namespace executor {

inline constexpr unsigned kNormThreads = 512;  // at most: 128 registers each

// kWhole: the width is a multiple of 8 and every row begins at an aligned address, so there is no branch between the loads of a row and all
// are under way at once. Otherwise numbers are moved one by one.
template <int kEightsOfThread, bool kIsWhole>
struct RowLayout {
  static constexpr int kEights = kEightsOfThread;
  static constexpr bool kWhole = kIsWhole;
};

template <class Wide, int kEights>
struct RowPart {
  Wide at[kEights][8];
};

__device__ __forceinline__ std::int64_t first_column(int eight) {
  return (static_cast<std::int64_t>(eight) * blockDim.x + threadIdx.x) * 8;
}

// Columns from `first_column` on; those beyond the width are zero.
template <class Layout, class Number>
__device__ __forceinline__ RowPart<WideOf<Number>, Layout::kEights> load_row(const Number* row, std::int64_t width) {
  RowPart<WideOf<Number>, Layout::kEights> part;
#pragma unroll
  for (int e = 0; e < Layout::kEights; ++e) {
    const std::int64_t column = first_column(e);
    Eight<Number> values{};
    if constexpr (Layout::kWhole) {
      if (column < width) values = load_eight(row + column);
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
template <class Layout, class Number>
__device__ __forceinline__ void store_row(Number* row, RowPart<WideOf<Number>, Layout::kEights>& part, std::int64_t width) {
#pragma unroll
  for (int e = 0; e < Layout::kEights; ++e) {
    const std::int64_t column = first_column(e);
    Eight<Number> values;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      store(values.at[i], part.at[e][i]);
      part.at[e][i] = load(values.at[i]);
    }
    if constexpr (Layout::kWhole) {
      if (column < width) store_eight(row + column, values);
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

// Calls `with` with the layout of this width and the threads of a block. are_aligned: the first rows of all tensors.
template <class With>
void by_width(std::int64_t width, bool are_aligned, const With& with) {
  if (width < 1 || width > kWidestNorm)
    throw std::invalid_argument("a norm of width " + std::to_string(width) + ": 1 to " + std::to_string(kWidestNorm) + " have a kernel");
  const auto call = [&]<class Layout>(Layout layout) {
    const std::int64_t columns = 8 * Layout::kEights * 32;  // of a warp
    with(layout, static_cast<unsigned>((width + columns - 1) / columns * 32));
  };
  if (!are_aligned || width % 8 != 0) return call(RowLayout<4, false>{});
  if (width <= 8 * kNormThreads) return call(RowLayout<1, true>{});
  if (width <= 16 * kNormThreads) return call(RowLayout<2, true>{});
  call(RowLayout<4, true>{});
}

template <class... Numbers>
bool all_aligned(const Numbers*... rows) {
  return (is_aligned(rows) && ...);  // null is
}

}  // namespace executor
