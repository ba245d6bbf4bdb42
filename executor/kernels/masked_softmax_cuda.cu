#include "executor/kernels/masked_softmax_cuda.h"

#include <limits>

#include "executor/kernels/norm_row.cuh"

namespace executor {
namespace {

// Eight columns, so many times, are a thread's: forward it holds a row; backward two, and what is dropped of them.
constexpr int kForward = 4;
int backward_eights(std::int64_t keys) { return keys <= 8192 ? 2 : 4; }

// One row: where it stands, what it sees, and what is dropped of it.
struct ScoreRow {
  std::int64_t at;
  int keys, seen;
  std::uint64_t first_element;
  sim::RandomKey key;
};

struct RowsOfHeads {
  SoftmaxShape shape;
  HeadPlaces places;
  DropoutDraw draw;

  __device__ __forceinline__ std::int64_t count() const { return shape.heads * shape.queries; }
  __device__ __forceinline__ ScoreRow row(std::int64_t number) const {
    const std::int64_t query = number % shape.queries, head = places.first + number / shape.queries;
    const std::int64_t of_batch = head / places.here * places.all + places.first_head + head % places.here;
    return {.at = number * shape.keys,
            .keys = static_cast<int>(shape.keys),
            .seen = static_cast<int>(shape.is_causal ? query + 1 : shape.keys),
            .first_element = draw.first_element + static_cast<std::uint64_t>((of_batch * shape.queries + query) * shape.keys),
            .key = {draw.key_there != nullptr ? static_cast<std::uint64_t>(*draw.key_there) : draw.key}};
  }
};

// Of eight columns from `column` on: bit i says that column + i is kept. Two neighbours share a draw, the first of an even number.
__device__ __forceinline__ unsigned kept_of_eight(const ScoreRow& row, int column, const DropoutDraw& draw) {
  const std::uint64_t first = row.first_element + static_cast<std::uint64_t>(column);
  unsigned kept = 0;
  if (first % 2 == 0) {
#pragma unroll
    for (unsigned i = 0; i < 8; i += 2) {
      const SharedBits bits{sim::random_bits(row.key, (first + i) >> 1)};
      kept |= static_cast<unsigned>(bits.of(0) >= draw.threshold) << i | static_cast<unsigned>(bits.of(1) >= draw.threshold) << (i + 1);
    }
  } else {
#pragma unroll 1
    for (unsigned i = 0; i < 8; ++i)  // rare: the code of eight draws, in every place that calls this, would be most of this kernel's
      kept |= static_cast<unsigned>(SharedBits{sim::random_bits(row.key, (first + i) >> 1)}.of(first + i) >= draw.threshold) << i;
  }
  return kept;
}
template <class Wide>
__device__ __forceinline__ Wide dropped(Wide value, unsigned kept, int i, const DropoutDraw& draw) {
  return (kept >> i & 1U) != 0 ? value * static_cast<Wide>(draw.scale) : Wide(0);
}

// The row becomes exponentials of what is in sight, above the highest; returns one over their sum.
template <class Layout, class Number, class Wide>
__device__ __forceinline__ Wide exponentials_of(RowPart<Wide, Layout::kEights>& row, int seen, Wide scale, Wide* scratch) {
  Wide highest = -std::numeric_limits<Wide>::infinity(), sum = 0;
  for_each_column<Layout>(seen, [&](int e, int i) {
    Wide& score = row.eights[e].at[i];
    score *= scale;
    if (first_column(e) + i < seen && score > highest) highest = score;
  });
  highest = over_block(highest, scratch, [](Wide a, Wide b) { return b > a ? b : a; });
#pragma unroll
  for (int e = 0; e < Layout::kEights; ++e)
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      Wide& score = row.eights[e].at[i];
      score = first_column(e) + i < seen ? exponential_of<Number>(score - highest) : Wide(0);
      sum += score;
    }
  return Wide(1) / over_block(sum, scratch, [](Wide a, Wide b) { return a + b; });
}

template <class Layout, class Number>
__global__ void __launch_bounds__(kNormThreads) softmax_kernel(const SoftmaxForward<Number> of, const RowsOfHeads rows) {
  using Wide = WideOf<Number>;
  __shared__ Wide scratch[32];
  for (std::int64_t number = blockIdx.x; number < rows.count(); number += gridDim.x) {
    const ScoreRow row = rows.row(number);
    RowPart<Wide, Layout::kEights> part;
#pragma unroll
    for (int e = 0; e < Layout::kEights; ++e) part.eights[e] = load_columns<Layout>(of.scores + row.at, first_column(e), row.seen);
    const Wide inverse = exponentials_of<Layout, Number>(part, row.seen, static_cast<Wide>(rows.shape.scale), scratch);
#pragma unroll
    for (int e = 0; e < Layout::kEights; ++e) {
      EightWide<Wide>& eight = part.eights[e];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        Number probability;
        store(probability, eight.at[i] * inverse);
        eight.at[i] = load(probability);
      }
      if (of.probabilities != nullptr) store_columns<Layout>(of.probabilities + row.at, eight, first_column(e), row.keys);
      if (first_column(e) < row.seen) {
        const unsigned kept = kept_of_eight(row, first_column(e), rows.draw);
#pragma unroll
        for (int i = 0; i < 8; ++i) eight.at[i] = dropped(eight.at[i], kept, i, rows.draw);
      }
      store_columns<Layout>(of.scores + row.at, eight, first_column(e), row.keys);
    }
  }
}

template <class Layout, class Number>
__global__ void __launch_bounds__(kNormThreads) softmax_backward_kernel(const SoftmaxBackward<Number> of, const RowsOfHeads rows) {
  using Wide = WideOf<Number>;
  __shared__ Wide scratch[32];
  for (std::int64_t number = blockIdx.x; number < rows.count(); number += gridDim.x) {
    const ScoreRow row = rows.row(number);
    Eight<Number> gradient[Layout::kEights], probability[Layout::kEights];
    unsigned kept[Layout::kEights];
    Wide sum = 0;
#pragma unroll
    for (int e = 0; e < Layout::kEights; ++e) {  // narrow until all are under way
      gradient[e] = take_eight<Layout>(of.gradient + row.at, first_column(e), row.seen);
      probability[e] = take_eight<Layout>(of.probabilities + row.at, first_column(e), row.seen);
    }
#pragma unroll
    for (int e = 0; e < Layout::kEights; ++e) {
      kept[e] = first_column(e) < row.seen ? kept_of_eight(row, first_column(e), rows.draw) : 0;
#pragma unroll
      for (int i = 0; i < 8; ++i)  // a probability out of sight is zero, a gradient there anything
        if (first_column(e) + i < row.seen)
          sum += dropped(Wide(load(gradient[e].at[i])), kept[e], i, rows.draw) * load(probability[e].at[i]);
    }
    sum = over_block(sum, scratch, [](Wide a, Wide b) { return a + b; });
#pragma unroll
    for (int e = 0; e < Layout::kEights; ++e) {
      EightWide<Wide> slope{}, given{};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const Wide p = load(probability[e].at[i]);
        if (first_column(e) + i < row.seen)
          slope.at[i] = (dropped(Wide(load(gradient[e].at[i])), kept[e], i, rows.draw) - sum) * p * static_cast<Wide>(rows.shape.scale);
        given.at[i] = dropped(p, kept[e], i, rows.draw);
      }
      store_columns<Layout>(of.gradient + row.at, slope, first_column(e), row.keys);
      store_columns<Layout>(of.probabilities + row.at, given, first_column(e), row.seen);
    }
  }
}

template <class Launch>
void over_rows(const RowsOfHeads& rows, bool are_aligned, int eights, const Launch& launch_rows) {
  const SoftmaxShape& shape = rows.shape;
  if (shape.keys < 1 || shape.keys > kMostKeys)
    throw std::invalid_argument("scores of " + std::to_string(shape.keys) + " keys: 1 to " + std::to_string(kMostKeys) + " have a kernel");
  const std::int64_t count = shape.heads * shape.queries;
  if (count == 0) return;
  by_width(shape.keys, are_aligned, eights,
           [&]<class Layout>(Layout layout, unsigned threads) { launch_rows(layout, over(count, threads)); });
}

}  // namespace

template <class Number>
void launch_masked_softmax(const SoftmaxForward<Number>& of, const SoftmaxShape& shape, const HeadPlaces& places, const DropoutDraw& draw,
                           CudaStream stream) {
  const RowsOfHeads rows{shape, places, draw};
  over_rows(rows, all_aligned(of.scores, of.probabilities), kForward, [&]<class Layout>(Layout, LaunchShape blocks) {
    launch("masked_softmax", softmax_kernel<Layout, Number>, blocks, stream, of, rows);
  });
}

template <class Number>
void launch_masked_softmax_backward(const SoftmaxBackward<Number>& of, const SoftmaxShape& shape, const HeadPlaces& places,
                                    const DropoutDraw& draw, CudaStream stream) {
  const RowsOfHeads rows{shape, places, draw};
  over_rows(rows, all_aligned(of.gradient, of.probabilities), backward_eights(shape.keys), [&]<class Layout>(Layout, LaunchShape blocks) {
    launch("masked_softmax_backward", softmax_backward_kernel<Layout, Number>, blocks, stream, of, rows);
  });
}

#define MESHWRIGHT_SOFTMAX_OF(Number)                                                                                                      \
  template void launch_masked_softmax(const SoftmaxForward<Number>&, const SoftmaxShape&, const HeadPlaces&, const DropoutDraw&,           \
                                      CudaStream);                                                                                         \
  template void launch_masked_softmax_backward(const SoftmaxBackward<Number>&, const SoftmaxShape&, const HeadPlaces&, const DropoutDraw&, \
                                               CudaStream)
MESHWRIGHT_SOFTMAX_OF(float);
MESHWRIGHT_SOFTMAX_OF(double);
MESHWRIGHT_SOFTMAX_OF(Bfloat16Bits);
MESHWRIGHT_SOFTMAX_OF(Float16Bits);
#undef MESHWRIGHT_SOFTMAX_OF

}  // namespace executor
