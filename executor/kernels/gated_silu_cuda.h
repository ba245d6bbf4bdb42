// silu(gate) * value on a GPU, one kernel each way. Within one rounding of the definition: nothing between is rounded.
// Memory traffic an element of the output: its size thrice forward, five times backward.
#pragma once

#include <cstdint>

#include "executor/kernels/cuda_stream.h"

namespace executor {

// joint [rows, 2 width]: gate | value; output and its gradient [rows, width].
struct GatedShape {
  std::int64_t rows = 0, width = 0;
};

// Asynchronous on `stream`. Throw std::runtime_error if CUDA refuses the launch. Number: float | double | Bfloat16Bits | Float16Bits.
template <class Number>
void launch_gated_silu(Number* output, const Number* joint, const GatedShape& shape, CudaStream stream);
template <class Number>
void launch_gated_silu_backward(Number* joint_gradient, const Number* joint, const Number* output_gradient, const GatedShape& shape,
                                CudaStream stream);

}  // namespace executor
