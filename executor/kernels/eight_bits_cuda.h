// Numbers to 8 bit on a GPU, one kernel: scaled, rounded, saturated, and laid as a matrix unit reads them. Every bit is that of the same steps by
// LibTorch's operators (executor/kernels/eight_bits.cpp), which cross the memory five times. Memory traffic an element of 16 bit: 3 bytes.
#pragma once

#include <cstdint>

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/eight_bit_code.h"

namespace executor {

template <class Number>
struct EightBitOperand {
  const Number* numbers = nullptr;  // [rows, columns]
  const float* largest = nullptr;   // magnitudes: one, or one for each row of the result
  std::uint8_t* codes = nullptr;    // [rows, columns], or turned [columns, rows]
  float* inverse = nullptr;         // as many as `largest`: what the codes are multiplied with
};
struct EightBitShape {
  std::int64_t rows = 0, columns = 0;
  bool is_turned = false, has_row_scales = false;
  EightBits format = EightBits::E4m3;
  ScaleRule rule = ScaleRule::Exact;  // or PowerOfTwo
};

// Asynchronous on `stream`. Throws std::runtime_error if CUDA refuses the launch. Number: float | Bfloat16Bits | Float16Bits.
template <class Number>
void launch_eight_bits(const EightBitOperand<Number>& of, const EightBitShape& shape, CudaStream stream);

}  // namespace executor
