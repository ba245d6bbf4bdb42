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
  const double* factor_there = nullptr;  // the gradient's, in the place of that of the factors; negative: nothing is stepped
};

// Elements [begin, end) of the shard and their decay; the factor `keep` of AdamWFactors is of each range its own.
template <class Master>
struct KeepRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Master keep = 1;
};

// Asynchronous on `stream`; `ranges` may be freed at return. Throws std::runtime_error if CUDA refuses the launch.
// Master, Gradient, Rounded: float, float, float | Bfloat16Bits | Float16Bits; float and twice the same 16 bits; double thrice.
template <class Master, class Gradient, class Rounded>
void launch_adamw(const AdamWMemory<Master, Gradient, Rounded>& memory, std::span<const KeepRange<Master>> ranges,
                  const AdamWFactors<Master>& by, CudaStream stream);

}  // namespace executor
