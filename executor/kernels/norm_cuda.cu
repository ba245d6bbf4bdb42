#include "executor/kernels/norm_cuda.h"

#include "executor/kernels/norm_row.cuh"

namespace executor {
namespace {

template <class Number, int kEights>
__device__ __forceinline__ RowPart<WideOf<Number>, kEights> residual_sum(const NormForward<Number>& of, std::int64_t at, std::int64_t width) {
  auto row = load_row<kEights>(of.sum + at, width);
  if (of.bias != nullptr) add_to_row(row, load_row<kEights>(of.bias, width));
  if (of.stream != nullptr) add_to_row(row, load_row<kEights>(of.stream + at, width));
  if (of.bias != nullptr || of.stream != nullptr) store_row(of.sum + at, row, width);
  return row;
}

template <class Number, int kEights>
__global__ void __launch_bounds__(kNormThreads) norm_forward_kernel(const NormForward<Number> of, const NormShape shape) {
  using Wide = WideOf<Number>;
  __shared__ Wide scratch[32];
  for (std::int64_t token = blockIdx.x; token < shape.tokens; token += gridDim.x) {
    auto row = residual_sum<Number, kEights>(of, token * shape.width, shape.width);
    const auto mean_of = [&](const auto& value) { return row_sum<Wide, kEights>(shape.width, scratch, value) / static_cast<Wide>(shape.width); };
    const Wide mean = of.mean == nullptr ? Wide(0) : mean_of([&](int e, int i) { return row.at[e][i]; });
    const Wide variance = mean_of([&](int e, int i) { return (row.at[e][i] - mean) * (row.at[e][i] - mean); });
    const Wide inverse = Wide(1) / std::sqrt(variance + static_cast<Wide>(of.epsilon));
    if (threadIdx.x == 0) {
      of.inverse[token] = inverse;
      if (of.mean != nullptr) of.mean[token] = mean;
    }
    const auto scale = load_row<kEights>(of.scale, shape.width);
    RowPart<Wide, kEights> shift{};
    if (of.shift != nullptr) shift = load_row<kEights>(of.shift, shape.width);
#pragma unroll
    for (int e = 0; e < kEights; ++e) {
#pragma unroll
      for (int i = 0; i < 8; ++i) row.at[e][i] = (row.at[e][i] - mean) * inverse * scale.at[e][i] + shift.at[e][i];
    }
    store_row(of.output + token * shape.width, row, shape.width);
  }
}

}  // namespace

template <class Number>
void launch_norm_forward(const NormForward<Number>& of, const NormShape& shape, CudaStream stream) {
  by_width(shape.width, [&]<int kEights>(std::integral_constant<int, kEights>, unsigned threads) {
    if (shape.tokens > 0) launch("norm_forward", norm_forward_kernel<Number, kEights>, over(shape.tokens, threads), stream, of, shape);
  });
}

template void launch_norm_forward(const NormForward<float>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<double>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<Bfloat16Bits>&, const NormShape&, CudaStream);
template void launch_norm_forward(const NormForward<Float16Bits>&, const NormShape&, CudaStream);

}  // namespace executor
