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
  const float* largest = nullptr;   // magnitudes [tiles down, tiles across] of `numbers`
  std::uint8_t* codes = nullptr;    // [rows, columns], or turned [columns, rows]
  void* inverse =
      nullptr;  // what the codes are multiplied with, where the unit reads it: filled(scales_of_unit(shape)), fp32, of Shared bytes
};
inline constexpr std::int32_t kWholeSide = 62;
struct EightBitShape {
  std::int64_t rows = 0, columns = 0;
  bool is_turned = false;
  std::int32_t down = kWholeSide, across = kWholeSide;  // 2^down rows and 2^across columns share a scale
  EightBits format = EightBits::E4m3;
  ScaleRule rule = ScaleRule::Exact;
};
MESHWRIGHT_INLINE std::int64_t tiles_down(const EightBitShape& shape) { return shape.rows > 0 ? ((shape.rows - 1) >> shape.down) + 1 : 0; }
MESHWRIGHT_INLINE std::int64_t tiles_across(const EightBitShape& shape) {
  return shape.columns > 0 ? ((shape.columns - 1) >> shape.across) + 1 : 0;
}
MESHWRIGHT_INLINE UnitScales scales_of_unit(const EightBitShape& shape) {
  const std::int64_t down = tiles_down(shape), across = tiles_across(shape);
  return {.outers = shape.is_turned ? across : down,
          .inners = shape.is_turned ? down : across,
          .order = order_of(shape.rule, shape.down > 0 && shape.across > 0)};
}

// Asynchronous on `stream`. Throws std::runtime_error if CUDA refuses the launch. Number: float | Bfloat16Bits | Float16Bits.
template <class Number>
void launch_eight_bits(const EightBitOperand<Number>& of, const EightBitShape& shape, CudaStream stream);

}  // namespace executor
