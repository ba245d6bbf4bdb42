// AdamW on a GPU: optimizer_loops.h over device memory, all ranges of a flat shard in one pass and one launch. Equal to the CPU's, every bit.
// Memory traffic an element: 4 (master) + gradient + 8 read, 12 + rounded written; 16-byte accesses where a range starts on a multiple of 8.
#pragma once

#include <cstdint>
#include <span>

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/optimizer_loops.h"

namespace executor {

// Flat device memory of equal lengths. rounded: null where the master is what is used, or written from it.
template <class Master, class Gradient, class Rounded>
struct AdamWMemory {
  Master* master;
  const Gradient* gradient;
  Master* first_moment;
  Master* second_moment;
  Rounded* rounded;
};

// Elements [begin, end) of the shard and their decay; the factor `keep` of AdamWFactors is of each range its own.
template <class Master>
struct KeepRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Master keep = 1;
};

// Asynchronous on `stream`; `ranges` may be freed at return. Throws std::runtime_error if CUDA refuses the launch.
void launch_adamw(const AdamWMemory<float, float, float>& memory, std::span<const KeepRange<float>> ranges, const AdamWFactors<float>& by,
                  CudaStream stream);
void launch_adamw(const AdamWMemory<float, float, Bfloat16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream);
void launch_adamw(const AdamWMemory<float, Bfloat16Bits, Bfloat16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream);
void launch_adamw(const AdamWMemory<float, float, Float16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream);
void launch_adamw(const AdamWMemory<float, Float16Bits, Float16Bits>& memory, std::span<const KeepRange<float>> ranges,
                  const AdamWFactors<float>& by, CudaStream stream);
void launch_adamw(const AdamWMemory<double, double, double>& memory, std::span<const KeepRange<double>> ranges,
                  const AdamWFactors<double>& by, CudaStream stream);

}  // namespace executor
