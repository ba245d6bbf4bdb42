#include "executor/kernels/norm_cuda.h"
#include "executor/kernels/norm_row.cuh"

namespace executor {
namespace {

constexpr int kSums = 2;              // over tokens: scale, shift
constexpr std::int64_t kSums32 = 32;  // columns, and slices of stripes, of a block that adds up stripes

// Of a thread, at most: their sums over tokens take 16 registers each.
int eights_of(std::int64_t width) { return width <= 1024 ? 1 : width <= 8192 ? 2 : 4; }

// Rows token, token + stripes, ... are a stripe; its sums stand in the workspace, [kSums, stripes, width]. As many as fill a large GPU with
// blocks of this width; not the device's own number, so bits do not depend on it.
std::int64_t stripes_of(const NormShape& shape) {
  const std::int64_t threads = norm_threads(shape.width, eights_of(shape.width));
  const std::int64_t wanted = 132 * (threads < kNormThreads ? kNormThreads / threads : 1);
  return shape.tokens < wanted ? shape.tokens : wanted;
}

template <class Wide, int kEights>
struct TokenSums {
  RowPart<Wide, kEights> scale{}, shift{};
};

// n, and the gradient g of n, of eight columns of a token.
template <class Wide>
struct Normed {
  EightWide<Wide> n, output_gradient, g;
};
template <class Layout, class Number, class Gradient>
__device__ __forceinline__ Normed<WideOf<Number>> normed_columns(const NormBackward<Number, Gradient>& of, std::int64_t token, int column,
                                                                 int width) {
  using Wide = WideOf<Number>;
  const Wide inverse = of.inverse[token], mean = of.mean == nullptr ? Wide(0) : of.mean[token];
  Normed<Wide> at{.n = load_columns<Layout>(of.h + token * width, column, width),
                  .output_gradient = load_columns<Layout>(of.output_gradient + token * width, column, width),
                  .g = load_columns<Layout>(of.scale, column, width)};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    at.n.at[i] = (at.n.at[i] - mean) * inverse;
    at.g.at[i] *= at.output_gradient.at[i];
  }
  return at;
}

// Adds a token to the sums of its weights' gradients. Returns this thread's part of sum(g * n) and sum(g).
template <class Layout, class Number, class Gradient>
__device__ __forceinline__ Two<WideOf<Number>> add_token(const NormBackward<Number, Gradient>& of, std::int64_t token, int width,
                                                         TokenSums<WideOf<Number>, Layout::kEights>& sums) {
  Two<WideOf<Number>> along;
#pragma unroll
  for (int e = 0; e < Layout::kEights; ++e) {
    const auto at = normed_columns<Layout>(of, token, first_column(e), width);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sums.scale.eights[e].at[i] += at.output_gradient.at[i] * at.n.at[i];
      sums.shift.eights[e].at[i] += at.output_gradient.at[i];
      along.first += at.g.at[i] * at.n.at[i];  // zero where no column is: so is the scale
      along.second += at.g.at[i];
    }
  }
  return along;
}

// Four of fp16 together would take a register more than there is.
template <class Layout, class Number>
inline constexpr int kStoredAtOnce = Layout::kEights == 4 && sizeof(Number) == 2 ? 2 : Layout::kEights;

// Reads the row again, from the first cache: the registers are full of sums.
template <class Layout, class Number, class Gradient>
__device__ __forceinline__ void store_input_gradient(const NormBackward<Number, Gradient>& of, std::int64_t token, int width,
                                                     const Two<WideOf<Number>>& mean) {
  const WideOf<Number> inverse = of.inverse[token];
#pragma unroll(kStoredAtOnce <Layout, Number>)
  for (int e = 0; e < Layout::kEights; ++e) {
    auto at = normed_columns<Layout>(of, token, first_column(e), width);
    EightWide<WideOf<Number>> later{};
    if (of.stream_gradient != nullptr) later = load_columns<Layout>(of.stream_gradient + token * width, first_column(e), width);
#pragma unroll
    for (int i = 0; i < 8; ++i) at.g.at[i] = inverse * (at.g.at[i] - mean.second - at.n.at[i] * mean.first) + later.at[i];
    store_columns<Layout>(of.input_gradient + token * width, at.g, first_column(e), width);
  }
}

template <class Layout, class Number, class Gradient>
__device__ __forceinline__ void prefetch_token(const NormBackward<Number, Gradient>& of, std::int64_t token, int width) {
  prefetch_row<Layout>(of.h + token * width, width);
  prefetch_row<Layout>(of.output_gradient + token * width, width);
  if (of.stream_gradient != nullptr) prefetch_row<Layout>(of.stream_gradient + token * width, width);
}

template <class Layout, class Number, class Gradient>
__global__ void __launch_bounds__(kNormThreads) norm_backward_kernel(const NormBackward<Number, Gradient> of, const NormShape shape) {
  using Wide = WideOf<Number>;
  constexpr int kEights = Layout::kEights;
  __shared__ Two<Wide> scratch[32];
  const int width = static_cast<int>(shape.width);
  TokenSums<Wide, kEights> sums;
  for (std::int64_t token = blockIdx.x; token < shape.tokens; token += gridDim.x) {
    if (token + gridDim.x < shape.tokens) prefetch_token<Layout>(of, token + gridDim.x, width);
    const Two<Wide> part = add_token<Layout>(of, token, width, sums);
    Two<Wide> mean = over_block(part, scratch, [](const Two<Wide>& a, const Two<Wide>& b) {
      return Two<Wide>{a.first + b.first, a.second + b.second};
    });
    mean = {mean.first / static_cast<Wide>(width), of.mean == nullptr ? Wide(0) : mean.second / static_cast<Wide>(width)};
    store_input_gradient<Layout>(of, token, width, mean);
  }
  Wide* row = of.workspace + blockIdx.x * shape.width;
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
    store_columns<Layout>(row, sums.scale.eights[e], first_column(e), width);
    if (of.shift_gradient != nullptr) store_columns<Layout>(row + gridDim.x * shape.width, sums.shift.eights[e], first_column(e), width);
  }
}

template <class Number, class Gradient>
struct StripeSums {
  const WideOf<Number>* stripes;  // [kSums, count, width]
  std::int64_t count;
  std::int64_t width;
  Gradient* gradients[kSums];
  bool writes;
};

// A block adds up 32 columns of one sum, each in 32 slices of stripes.
template <class Number, class Gradient>
__global__ void __launch_bounds__(kSums32* kSums32) add_stripes_kernel(const StripeSums<Number, Gradient> of, unsigned blocks_of_sum) {
  using Wide = WideOf<Number>;
  __shared__ Wide slices[kSums32][kSums32];
  const unsigned which = blockIdx.x / blocks_of_sum;
  const std::int64_t lane = threadIdx.x % kSums32, slice = threadIdx.x / kSums32, column = blockIdx.x % blocks_of_sum * kSums32 + lane;
  const Wide* const stripes = of.stripes + which * of.count * of.width + column;
  Wide sum = 0;
  if (column < of.width) {
#pragma unroll 8
    for (std::int64_t stripe = slice; stripe < of.count; stripe += kSums32) sum += stripes[stripe * of.width];
  }
  slices[slice][lane] = sum;
  __syncthreads();
  if (slice != 0 || column >= of.width) return;
  for (int i = 1; i < kSums32; ++i) sum += slices[i][lane];
  Gradient& gradient = (which == 0 ? of.gradients[0] : of.gradients[1])[column];
  store(gradient, static_cast<WideOf<Gradient>>(of.writes ? sum : load(gradient) + sum));
}

}  // namespace

std::int64_t norm_workspace(const NormShape& shape) { return kSums * stripes_of(shape) * shape.width; }

template <class Number, class Gradient>
void launch_norm_backward(const NormBackward<Number, Gradient>& of, const NormShape& shape, CudaStream stream) {
  if (shape.tokens <= 0) return;
  const std::int64_t stripes = stripes_of(shape);
  const bool are_aligned = all_aligned(of.output_gradient, of.h, of.scale, of.stream_gradient, of.input_gradient, of.workspace);
  by_width(shape.width, are_aligned, eights_of(shape.width), [&]<class Layout>(Layout, unsigned threads) {
    const LaunchShape rows{.blocks = static_cast<unsigned>(stripes), .threads = threads};
    launch("norm_backward", norm_backward_kernel<Layout, Number, Gradient>, rows, stream, of, shape);
  });
  const auto blocks_of_sum = static_cast<unsigned>((shape.width + kSums32 - 1) / kSums32), sums = of.shift_gradient == nullptr ? 1U : 2U;
  launch("add_stripes", add_stripes_kernel<Number, Gradient>, {.blocks = sums * blocks_of_sum, .threads = kSums32 * kSums32}, stream,
         StripeSums<Number, Gradient>{of.workspace, stripes, shape.width, {of.scale_gradient, of.shift_gradient}, of.writes},
         blocks_of_sum);
}

template void launch_norm_backward(const NormBackward<float, float>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<double, double>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Bfloat16Bits, Bfloat16Bits>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Bfloat16Bits, float>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Float16Bits, Float16Bits>&, const NormShape&, CudaStream);
template void launch_norm_backward(const NormBackward<Float16Bits, float>&, const NormShape&, CudaStream);

}  // namespace executor
