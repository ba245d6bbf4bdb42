// Dropout in place on a GPU, one kernel, forward and backward alike; equal to the CPU's loop (executor/model/dropout.cpp), every bit.
// Memory traffic an element: its size twice.
#pragma once

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/dropout_draw.h"

namespace executor {

// numbers: `count` elements of device memory; draw.key_there is read when the kernel runs. Asynchronous on `stream`. Throws std::runtime_error if CUDA
// refuses the launch. Number: float | double | Bfloat16Bits | Float16Bits.
template <class Number>
void launch_dropout(Number* numbers, std::int64_t count, const DropoutDraw& draw, CudaStream stream);

}  // namespace executor
