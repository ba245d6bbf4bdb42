#include "executor/kernels/dropout_cuda.h"

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/sixteen_bits.h"

namespace executor {
namespace {

constexpr unsigned kThreads = 256;

// Eight neighbours a thread, and the pairs of bits that they share.
template <class Number>
__global__ void __launch_bounds__(kThreads) dropout_kernel(Number* numbers, std::int64_t count, DropoutDraw draw) {
  using Wide = decltype(load(Number{}));
  const sim::RandomKey key{draw.key_there != nullptr ? static_cast<std::uint64_t>(*draw.key_there) : draw.key};
  const std::int64_t pieces = (count + 7) / 8;
  for (std::int64_t piece = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; piece < pieces;
       piece += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t at = 8 * piece;
    SharedBits bits{};
    const auto changed = [&](Number number, int i) {
      const std::uint64_t element = draw.first_element + static_cast<std::uint64_t>(at + i);
      if (i == 0 || element % 2 == 0) bits = {sim::random_bits(key, element >> 1)};
      Number result;
      store(result, kept_or_zero<Wide>(load(number), bits.of(element), draw));
      return result;
    };
    if (at + 8 <= count && is_aligned(numbers + at)) {
      Eight<Number> values = load_eight(numbers + at);
#pragma unroll
      for (int i = 0; i < 8; ++i) values.at[i] = changed(values.at[i], i);
      store_eight(numbers + at, values);
    } else {
      for (int i = 0; i < 8 && at + i < count; ++i) numbers[at + i] = changed(numbers[at + i], i);
    }
  }
}

}  // namespace

template <class Number>
void launch_dropout(Number* numbers, std::int64_t count, const DropoutDraw& draw, CudaStream stream) {
  if (count > 0) launch("dropout", dropout_kernel<Number>, over((count + 7) / 8 / kThreads + 1, kThreads), stream, numbers, count, draw);
}

template void launch_dropout(float*, std::int64_t, const DropoutDraw&, CudaStream);
template void launch_dropout(double*, std::int64_t, const DropoutDraw&, CudaStream);
template void launch_dropout(Bfloat16Bits*, std::int64_t, const DropoutDraw&, CudaStream);
template void launch_dropout(Float16Bits*, std::int64_t, const DropoutDraw&, CudaStream);

}  // namespace executor
