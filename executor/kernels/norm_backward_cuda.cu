#include "executor/kernels/norm_cuda.h"
#include "executor/kernels/norm_row.cuh"

namespace executor {
namespace {

constexpr int kSums = 2;              // over tokens: scale, shift
constexpr std::int64_t kSums32 = 32;  // columns, and slices of stripes, of a block that adds up stripes

// Rows token, token + stripes, ... are a stripe; its sums stand in the workspace, [kSums, stripes, width]. As many as fill a large GPU with
// blocks of this width; not the device's own number, so bits do not depend on it.
std::int64_t stripes_of(const NormShape& shape) {
  const std::int64_t threads = (shape.width + 255) / 256 * 32, wanted = 132 * (threads < kNormThreads ? kNormThreads / threads : 1);
  return shape.tokens < wanted ? shape.tokens : wanted;
}

template <class Wide, int kEights>
struct TokenSums {
  RowPart<Wide, kEights> scale{}, shift{};
};

template <class Layout, class Number, class Gradient>
__device__ __forceinline__ void backward_row(const NormBackward<Number, Gradient>& of, std::int64_t token, std::int64_t width,
                                             WideOf<Number>* scratch, TokenSums<WideOf<Number>, Layout::kEights>& sums) {
  using Wide = WideOf<Number>;
  constexpr int kEights = Layout::kEights;
  const std::int64_t at = token * width;
  const Wide inverse = of.inverse[token], mean = of.mean == nullptr ? Wide(0) : of.mean[token];
  auto normed = load_row<Layout>(of.h + at, width);
  auto gradient = load_row<Layout>(of.output_gradient + at, width);
  const auto scale = load_row<Layout>(of.scale, width);
  RowPart<Wide, kEights> later{};
  if (of.stream_gradient != nullptr) later = load_row<Layout>(of.stream_gradient + at, width);
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      normed.at[e][i] = (normed.at[e][i] - mean) * inverse;
      sums.scale.at[e][i] += gradient.at[e][i] * normed.at[e][i];
      sums.shift.at[e][i] += gradient.at[e][i];
      gradient.at[e][i] *= scale.at[e][i];
    }
  }
  const auto mean_of = [&](const auto& value) { return row_sum<Wide, kEights>(width, scratch, value) / static_cast<Wide>(width); };
  const Wide along = mean_of([&](int e, int i) { return gradient.at[e][i] * normed.at[e][i]; });
  const Wide mean_gradient = of.mean == nullptr ? Wide(0) : mean_of([&](int e, int i) { return gradient.at[e][i]; });
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      gradient.at[e][i] = inverse * (gradient.at[e][i] - mean_gradient - normed.at[e][i] * along) + later.at[e][i];
  }
  store_row<Layout>(of.input_gradient + at, gradient, width);
}

template <class Layout, class Number, class Gradient>
__global__ void __launch_bounds__(kNormThreads) norm_backward_kernel(const NormBackward<Number, Gradient> of, const NormShape shape) {
  using Wide = WideOf<Number>;
  __shared__ Wide scratch[32];
  TokenSums<Wide, Layout::kEights> sums;
  for (std::int64_t token = blockIdx.x; token < shape.tokens; token += gridDim.x)
    backward_row<Layout>(of, token, shape.width, scratch, sums);
  Wide* row = of.workspace + blockIdx.x * shape.width;
  store_row<Layout>(row, sums.scale, shape.width);
  if (of.shift_gradient != nullptr) store_row<Layout>(row + gridDim.x * shape.width, sums.shift, shape.width);
}

template <class Number>
struct StripeSums {
  const WideOf<Number>* stripes;  // [count, width]
  std::int64_t count;
  std::int64_t width;
};

// A block adds up 32 columns, each in 32 slices of stripes.
template <class Number, class Gradient>
__global__ void __launch_bounds__(kSums32* kSums32) add_stripes_kernel(const StripeSums<Number> of, Gradient* gradient) {
  using Wide = WideOf<Number>;
  __shared__ Wide slices[kSums32][kSums32];
  const std::int64_t lane = threadIdx.x % kSums32, slice = threadIdx.x / kSums32, column = blockIdx.x * kSums32 + lane;
  Wide sum = 0;
  if (column < of.width)
    for (std::int64_t stripe = slice; stripe < of.count; stripe += kSums32) sum += of.stripes[stripe * of.width + column];
  slices[slice][lane] = sum;
  __syncthreads();
  if (slice != 0 || column >= of.width) return;
  for (int i = 1; i < kSums32; ++i) sum += slices[i][lane];
  store(gradient[column], static_cast<WideOf<Gradient>>(load(gradient[column]) + sum));
}

}  // namespace

std::int64_t norm_workspace(const NormShape& shape) { return kSums * stripes_of(shape) * shape.width; }

template <class Number, class Gradient>
void launch_norm_backward(const NormBackward<Number, Gradient>& of, const NormShape& shape, CudaStream stream) {
  if (shape.tokens <= 0) return;
  const std::int64_t stripes = stripes_of(shape);
  const bool are_aligned = all_aligned(of.output_gradient, of.h, of.scale, of.stream_gradient, of.input_gradient, of.workspace);
  by_width(shape.width, are_aligned, [&]<class Layout>(Layout, unsigned threads) {
    const LaunchShape rows{.blocks = static_cast<unsigned>(stripes), .threads = threads};
    launch("norm_backward", norm_backward_kernel<Layout, Number, Gradient>, rows, stream, of, shape);
  });
  const LaunchShape columns{.blocks = static_cast<unsigned>((shape.width + kSums32 - 1) / kSums32), .threads = kSums32 * kSums32};
  const WideOf<Number>* sums = of.workspace;
  Gradient* const gradients[kSums] = {of.scale_gradient, of.shift_gradient};
  for (Gradient* const gradient : gradients) {
    if (gradient != nullptr)
      launch("add_stripes", add_stripes_kernel<Number, Gradient>, columns, stream, StripeSums<Number>{sums, stripes, shape.width},
             gradient);
    sums += stripes * shape.width;
  }
}

template void launch_norm_backward(const NormBackward<float, float>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<double, double>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Bfloat16Bits, Bfloat16Bits>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Bfloat16Bits, float>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Float16Bits, Float16Bits>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Float16Bits, float>&, const NormShape&, CudaStream);

}  // namespace executor
