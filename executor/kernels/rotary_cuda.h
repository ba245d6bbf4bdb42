// Rotary positions in place on a GPU, one kernel; equal to the CPU's loop (executor/model/heads.cpp), every bit.
// Memory traffic an element of the turned heads: its size twice; the table stays in the caches.
#pragma once

#include <cstdint>

#include "executor/kernels/cuda_stream.h"

namespace executor {

// joint [tokens, width]: of the first `turned` heads of a token, head_dim apart, the first 2 half numbers are turned; the rest stays.
// table [2, sequence, half]: cosines, then sines; token t stands at t mod sequence.
struct RotaryShape {
  std::int64_t tokens = 0, width = 0, turned = 0, head_dim = 0, half = 0, sequence = 1;
  bool is_back = false;  // by the negative angles
};

// Asynchronous on `stream`. Throws std::runtime_error if CUDA refuses the launch. Number: float | double | Bfloat16Bits | Float16Bits.
template <class Number>
void launch_rotary(Number* joint, const Number* table, const RotaryShape& shape, CudaStream stream);

}  // namespace executor
