// How an optimizer's kernel goes over all ranges of a flat shard: blocks take chunks in turn, a thread eight elements, by 16-byte accesses where their
// addresses allow. Step says what is done: eight(at, range), one(at, range), is_aligned_at(at); is_skipped(): nothing.
#pragma once

#include "executor/kernels/chunk_table.cuh"
#include "executor/kernels/cuda_block.cuh"

namespace executor {

inline constexpr unsigned kStepThreads = 256;
inline constexpr std::int64_t kStepChunk = kStepThreads * 8;  // elements that a block steps at a time, of one range

template <class Step, class Range>
__global__ void __launch_bounds__(kStepThreads) step_kernel(const Step step, const ChunkTable<Range> table) {
  if (step.is_skipped()) return;
  int range = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < table.chunks(); chunk += gridDim.x) {
    while (chunk >= table.first_chunk[range + 1]) ++range;
    const Range& of = table.ranges[range];
    const std::int64_t begin = of.begin + (chunk - table.first_chunk[range]) * kStepChunk + threadIdx.x * 8, end = of.end;
    if (begin + 8 <= end && step.is_aligned_at(begin)) {
      step.eight(begin, of);
    } else {
      for (std::int64_t at = begin; at < end && at < begin + 8; ++at) step.one(at, of);
    }
  }
}

template <class Step, class Range>
void launch_steps(const char* name, const Step& step, std::span<const Range> ranges, CudaStream stream) {
  while (!ranges.empty()) {
    const auto table = ChunkTable<Range>::take(ranges, kStepChunk);
    if (table.chunks() > 0) launch(name, step_kernel<Step, Range>, over(table.chunks(), kStepThreads), stream, step, table);
  }
}

}  // namespace executor
