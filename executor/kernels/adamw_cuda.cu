#include "executor/kernels/adamw_cuda.h"

#include "executor/kernels/adamw_update.h"
#include "executor/kernels/chunk_table.cuh"
#include "executor/kernels/cuda_block.cuh"

namespace executor {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kChunk = kThreads * 8;  // elements that a block steps at a time, of one range

template <class Master, class Gradient, class Rounded>
__device__ __forceinline__ void step_eight(const AdamWMemory<Master, Gradient, Rounded>& memory, std::int64_t at,
                                           const AdamWFactors<Master>& by) {
  Eight<Master> weights = load_eight(memory.master + at), first = load_eight(memory.first_moment + at),
                second = load_eight(memory.second_moment + at);
  const Eight<Gradient> gradients = load_eight(memory.gradient + at);
  Eight<Rounded> rounded;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const AdamWElement<Master> next = adamw_update<Master>({weights.at[i], first.at[i], second.at[i]}, load(gradients.at[i]), by);
    weights.at[i] = next.weight;
    first.at[i] = next.first_moment;
    second.at[i] = next.second_moment;
    store(rounded.at[i], next.weight);
  }
  store_eight(memory.master + at, weights);
  store_eight(memory.first_moment + at, first);
  store_eight(memory.second_moment + at, second);
  if (memory.rounded != nullptr) store_eight(memory.rounded + at, rounded);
}

template <class Master, class Gradient, class Rounded>
__device__ __forceinline__ void step_one(const AdamWMemory<Master, Gradient, Rounded>& memory, std::int64_t at,
                                         const AdamWFactors<Master>& by) {
  const AdamWElement<Master> next =
      adamw_update<Master>({memory.master[at], memory.first_moment[at], memory.second_moment[at]}, load(memory.gradient[at]), by);
  memory.master[at] = next.weight;
  memory.first_moment[at] = next.first_moment;
  memory.second_moment[at] = next.second_moment;
  if (memory.rounded != nullptr) store(memory.rounded[at], next.weight);
}

template <class Master, class Gradient, class Rounded>
__device__ __forceinline__ bool is_aligned_at(const AdamWMemory<Master, Gradient, Rounded>& memory, std::int64_t at) {
  return is_aligned(memory.master + at) && is_aligned(memory.gradient + at) && is_aligned(memory.first_moment + at) &&
         is_aligned(memory.second_moment + at) && (memory.rounded == nullptr || is_aligned(memory.rounded + at));
}

template <class Master, class Gradient, class Rounded>
__global__ void __launch_bounds__(kThreads)
    adamw_kernel(const AdamWMemory<Master, Gradient, Rounded> memory, const ChunkTable<KeepRange<Master>> table, AdamWFactors<Master> by) {
  int range = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < table.chunks(); chunk += gridDim.x) {
    while (chunk >= table.first_chunk[range + 1]) ++range;
    const std::int64_t begin = table.ranges[range].begin + (chunk - table.first_chunk[range]) * kChunk + threadIdx.x * 8,
                       end = table.ranges[range].end;
    by.keep = table.ranges[range].keep;
    if (begin + 8 <= end && is_aligned_at(memory, begin)) {
      step_eight(memory, begin, by);
    } else {
      for (std::int64_t at = begin; at < end && at < begin + 8; ++at) step_one(memory, at, by);
    }
  }
}

template <class Master, class Gradient, class Rounded>
void launch_ranges(const AdamWMemory<Master, Gradient, Rounded>& memory, std::span<const KeepRange<Master>> ranges,
                   const AdamWFactors<Master>& by, CudaStream stream) {
  while (!ranges.empty()) {
    const auto table = ChunkTable<KeepRange<Master>>::take(ranges, kChunk);
    if (table.chunks() > 0)
      launch("adamw", adamw_kernel<Master, Gradient, Rounded>, over(table.chunks(), kThreads), stream, memory, table, by);
  }
}

}  // namespace

void launch_adamw(const AdamWMemory<float, float, float>& memory, std::span<const KeepRange<float>> ranges, const AdamWFactors<float>& by,
                  CudaStream stream) {
  launch_ranges(memory, ranges, by, stream);
}
void launch_adamw(const AdamWMemory<float, float, Bfloat16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream) {
  launch_ranges(memory, ranges, by, stream);
}
void launch_adamw(const AdamWMemory<float, Bfloat16Bits, Bfloat16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream) {
  launch_ranges(memory, ranges, by, stream);
}
void launch_adamw(const AdamWMemory<float, float, Float16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream) {
  launch_ranges(memory, ranges, by, stream);
}
void launch_adamw(const AdamWMemory<float, Float16Bits, Float16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream) {
  launch_ranges(memory, ranges, by, stream);
}
void launch_adamw(const AdamWMemory<double, double, double>& memory, std::span<const KeepRange<double>> ranges,
                  const AdamWFactors<double>& by, CudaStream stream) {
  launch_ranges(memory, ranges, by, stream);
}

}  // namespace executor
