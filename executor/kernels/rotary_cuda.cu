#include "executor/kernels/rotary_cuda.h"

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/rotary_turn.h"
#include "executor/kernels/sixteen_bits.h"

namespace executor {
namespace {

constexpr unsigned kThreads = 256;

template <class Number>
__device__ __forceinline__ void turn(Number& first, Number& second, Number cosine, Number sine, bool is_back) {
  const auto angle = load(sine);
  const auto result = turned_pair(load(first), load(second), load(cosine), is_back ? -angle : angle);
  store(first, result.first);
  store(second, result.second);
}

// A thread: eight neighbouring pairs of one head.
template <class Number>
__global__ void __launch_bounds__(kThreads) rotary_kernel(Number* joint, const Number* table, RotaryShape shape) {
  const std::int64_t eights = (shape.half + 7) / 8, pieces = shape.tokens * shape.turned * eights;
  for (std::int64_t piece = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; piece < pieces;
       piece += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t at = piece % eights * 8, head = piece / eights % shape.turned, token = piece / eights / shape.turned;
    Number* const first = joint + token * shape.width + head * shape.head_dim + at;
    Number* const second = first + shape.half;
    const Number* const cosine = table + token % shape.sequence * shape.half + at;
    const Number* const sine = cosine + shape.sequence * shape.half;
    if (at + 8 <= shape.half && is_aligned(first) && is_aligned(second) && is_aligned(cosine) && is_aligned(sine)) {
      Eight<Number> firsts = load_eight(first), seconds = load_eight(second);
      const Eight<Number> cosines = load_eight(cosine), sines = load_eight(sine);
#pragma unroll
      for (int i = 0; i < 8; ++i) turn(firsts.at[i], seconds.at[i], cosines.at[i], sines.at[i], shape.is_back);
      store_eight(first, firsts);
      store_eight(second, seconds);
    } else {
      for (int i = 0; i < 8 && at + i < shape.half; ++i) turn(first[i], second[i], cosine[i], sine[i], shape.is_back);
    }
  }
}

}  // namespace

template <class Number>
void launch_rotary(Number* joint, const Number* table, const RotaryShape& shape, CudaStream stream) {
  const std::int64_t pieces = shape.tokens * shape.turned * ((shape.half + 7) / 8);
  if (pieces > 0) launch("rotary", rotary_kernel<Number>, over(pieces / kThreads + 1, kThreads), stream, joint, table, shape);
}

template void launch_rotary(float*, const float*, const RotaryShape&, CudaStream);
template void launch_rotary(double*, const double*, const RotaryShape&, CudaStream);
template void launch_rotary(Bfloat16Bits*, const Bfloat16Bits*, const RotaryShape&, CudaStream);
template void launch_rotary(Float16Bits*, const Float16Bits*, const RotaryShape&, CudaStream);

}  // namespace executor
