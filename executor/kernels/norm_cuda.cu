#include "executor/kernels/norm_cuda.h"

#include "executor/kernels/norm_row.cuh"

namespace executor {
namespace {

template <class Layout, class Number>
__device__ __forceinline__ RowPart<WideOf<Number>, Layout::kEights> residual_sum(const NormForward<Number>& of, std::int64_t at,
                                                                                 std::int64_t width) {
  auto row = load_row<Layout>(of.sum + at, width);
  if (of.stream == nullptr) return row;
  add_to_row(row, load_row<Layout>(of.stream + at, width));
  store_row<Layout>(of.sum + at, row, width);
  return row;
}

template <class Layout, class Number>
__global__ void __launch_bounds__(kNormThreads) norm_forward_kernel(const NormForward<Number> of, const NormShape shape) {
  using Wide = WideOf<Number>;
  constexpr int kEights = Layout::kEights;
  __shared__ Wide scratch[32];
  for (std::int64_t token = blockIdx.x; token < shape.tokens; token += gridDim.x) {
    auto row = residual_sum<Layout>(of, token * shape.width, shape.width);
    const auto mean_of = [&](const auto& value) {
      return row_sum<Wide, kEights>(shape.width, scratch, value) / static_cast<Wide>(shape.width);
    };
    const Wide mean = of.mean == nullptr ? Wide(0) : mean_of([&](int e, int i) { return row.at[e][i]; });
    const Wide variance = mean_of([&](int e, int i) { return (row.at[e][i] - mean) * (row.at[e][i] - mean); });
    const Wide inverse = Wide(1) / std::sqrt(variance + static_cast<Wide>(of.epsilon));
    if (threadIdx.x == 0) {
      of.inverse[token] = inverse;
      if (of.mean != nullptr) of.mean[token] = mean;
    }
    const auto scale = load_row<Layout>(of.scale, shape.width);
    RowPart<Wide, kEights> shift{};
    if (of.shift != nullptr) shift = load_row<Layout>(of.shift, shape.width);
#pragma unroll
    for (int e = 0; e < kEights; ++e) {
#pragma unroll
      for (int i = 0; i < 8; ++i) row.at[e][i] = (row.at[e][i] - mean) * inverse * scale.at[e][i] + shift.at[e][i];
    }
    store_row<Layout>(of.output + token * shape.width, row, shape.width);
  }
}

}  // namespace

template <class Number>
void launch_norm_forward(const NormForward<Number>& of, const NormShape& shape, CudaStream stream) {
  const bool are_aligned = all_aligned(of.sum, of.stream, of.scale, of.shift, of.output);
  by_width(shape.width, are_aligned, [&]<class Layout>(Layout, unsigned threads) {
    if (shape.tokens > 0) launch("norm_forward", norm_forward_kernel<Layout, Number>, over(shape.tokens, threads), stream, of, shape);
  });
}

template void launch_norm_forward(const NormForward<float>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<double>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<Bfloat16Bits>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<Float16Bits>&, const NormShape&, CudaStream);

}  // namespace executor
