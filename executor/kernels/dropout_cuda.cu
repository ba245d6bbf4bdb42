#include "executor/kernels/dropout_cuda.h"

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/sixteen_bits.h"

namespace executor {
namespace {

constexpr unsigned kThreads = 256;

// Eight neighbours of one thread, the first of an even number: four draws, without a branch between them.
template <class Number>
__device__ __forceinline__ void drop_pairs(Eight<Number>& values, std::uint64_t first, sim::RandomKey key, const DropoutDraw& draw) {
  using Wide = decltype(load(Number{}));
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    const SharedBits bits{sim::random_bits(key, (first + static_cast<std::uint64_t>(i)) >> 1)};
    store(values.at[i], kept_or_zero<Wide>(load(values.at[i]), bits.of(0), draw));
    store(values.at[i + 1], kept_or_zero<Wide>(load(values.at[i + 1]), bits.of(1), draw));
  }
}

template <class Number>
__device__ __forceinline__ void drop_one(Number& value, std::uint64_t element, sim::RandomKey key, const DropoutDraw& draw) {
  const SharedBits bits{sim::random_bits(key, element >> 1)};
  store(value, kept_or_zero<decltype(load(Number{}))>(load(value), bits.of(element), draw));
}

template <class Number>
__global__ void __launch_bounds__(kThreads) dropout_kernel(Number* numbers, std::int64_t count, DropoutDraw draw) {
  const sim::RandomKey key{draw.key_there != nullptr ? static_cast<std::uint64_t>(*draw.key_there) : draw.key};
  const bool are_eights = is_aligned(numbers) && draw.first_element % 2 == 0 && draw.row % 2 == 0 && draw.width % 8 == 0;
  const std::int64_t pieces = (count + 7) / 8;
  for (std::int64_t piece = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; piece < pieces;
       piece += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t at = 8 * piece;
    const auto here = static_cast<std::uint64_t>(at);
    if (are_eights && at + 8 <= count) {
      Eight<Number> values = load_eight(numbers + at);
      drop_pairs(values, element_at(draw, here), key, draw);
      store_eight(numbers + at, values);
    } else {
      for (int i = 0; i < 8 && at + i < count; ++i)
        drop_one(numbers[at + i], element_at(draw, here + static_cast<std::uint64_t>(i)), key, draw);
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
