#include "executor/kernels/norm_cuda.h"

#include "executor/kernels/norm_row.cuh"

namespace executor {
namespace {

// The more of a row a thread holds, the fewer threads wait for each other.
constexpr int kEightsOfThread = 4;

// Eights of a row that are under way at once, narrow: all of them, where registers are enough for the row beside what is added to it.
template <class Layout, class Number>
inline constexpr int kEightsAtOnce = Layout::kWhole && sizeof(Number) < sizeof(double) ? Layout::kEights : 1;

template <class Layout, class Number>
__device__ __forceinline__ RowPart<WideOf<Number>, Layout::kEights> residual_sum(const NormForward<Number>& of, std::int64_t at,
                                                                                 int width) {
  constexpr int kAtOnce = kEightsAtOnce<Layout, Number>;
  RowPart<WideOf<Number>, Layout::kEights> row;
#pragma unroll
  for (int first = 0; first < Layout::kEights; first += kAtOnce) {
    Eight<Number> sum[kAtOnce], stream[kAtOnce]{};
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      sum[e] = take_eight<Layout>(of.sum + at, first_column(first + e), width);
      if (of.stream != nullptr) stream[e] = take_eight<Layout>(of.stream + at, first_column(first + e), width);
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      EightWide<WideOf<Number>>& wide = row.eights[first + e];
      wide = widened(sum[e]);
      if (of.stream == nullptr) continue;
#pragma unroll
      for (int i = 0; i < 8; ++i) wide.at[i] += load(stream[e].at[i]);
      store_columns<Layout>(of.sum + at, wide, first_column(first + e), width);
    }
  }
  return row;
}

template <class Layout, class Number>
__device__ __forceinline__ void store_normed(const NormForward<Number>& of, const RowPart<WideOf<Number>, Layout::kEights>& row,
                                             std::int64_t at, int width, WideOf<Number> mean, WideOf<Number> inverse) {
#pragma unroll
  for (int e = 0; e < Layout::kEights; ++e) {
    const int column = first_column(e);
    const auto scale = load_columns<Layout>(of.scale, column, width);
    EightWide<WideOf<Number>> shift{}, output;
    if (of.shift != nullptr) shift = load_columns<Layout>(of.shift, column, width);
#pragma unroll
    for (int i = 0; i < 8; ++i) output.at[i] = (row.eights[e].at[i] - mean) * inverse * scale.at[i] + shift.at[i];
    store_columns<Layout>(of.output + at, output, column, width);
  }
}

template <class Layout, class Number>
__global__ void __launch_bounds__(kNormThreads) norm_forward_kernel(const NormForward<Number> of, const NormShape shape) {
  using Wide = WideOf<Number>;
  __shared__ Wide scratch[32];
  const int width = static_cast<int>(shape.width);
  for (std::int64_t token = blockIdx.x; token < shape.tokens; token += gridDim.x) {
    const auto row = residual_sum<Layout>(of, token * width, width);
    if (const std::int64_t next = token + gridDim.x; next < shape.tokens) {
      prefetch_row<Layout>(of.sum + next * width, width);
      if (of.stream != nullptr) prefetch_row<Layout>(of.stream + next * width, width);
    }
    const auto mean_of = [&](const auto& value) { return row_sum<Layout>(width, scratch, value) / static_cast<Wide>(width); };
    const Wide mean = of.mean == nullptr ? Wide(0) : mean_of([&](int e, int i) { return row.eights[e].at[i]; });
    const Wide variance = mean_of([&](int e, int i) { return (row.eights[e].at[i] - mean) * (row.eights[e].at[i] - mean); });
    const Wide inverse = Wide(1) / std::sqrt(variance + static_cast<Wide>(of.epsilon));
    if (threadIdx.x == 0) {
      of.inverse[token] = inverse;
      if (of.mean != nullptr) of.mean[token] = mean;
    }
    store_normed<Layout>(of, row, token * width, width, mean, inverse);
  }
}

}  // namespace

template <class Number>
void launch_norm_forward(const NormForward<Number>& of, const NormShape& shape, CudaStream stream) {
  const bool are_aligned = all_aligned(of.sum, of.stream, of.scale, of.shift, of.output);
  by_width(shape.width, are_aligned, kEightsOfThread, [&]<class Layout>(Layout, unsigned threads) {
    if (shape.tokens > 0) launch("norm_forward", norm_forward_kernel<Layout, Number>, over(shape.tokens, threads), stream, of, shape);
  });
}

template void launch_norm_forward(const NormForward<float>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<double>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<Bfloat16Bits>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<Float16Bits>&, const NormShape&, CudaStream);

}  // namespace executor
