// 16-bit numbers for loops that compile without LibTorch: bf16 as the upper half of an fp32, fp16 as the compiler has it. Both round to nearest,
// ties to even; NaN stays NaN.
#pragma once

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <bit>
#include <cstdint>

#include "executor/kernels/vector_target.h"

namespace executor {

struct Bfloat16Bits {
  std::uint16_t bits;
};
struct Float16Bits {
  std::uint16_t bits;
};

template <class Number>
MESHWRIGHT_INLINE Number load(Number value) {
  return value;
}
MESHWRIGHT_INLINE float load(Bfloat16Bits value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

template <class Number>
MESHWRIGHT_INLINE void store(Number& to, Number value) {
  to = value;
}

#if defined(__CUDA_ARCH__)
MESHWRIGHT_INLINE void store(Bfloat16Bits& to, float value) { to.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
MESHWRIGHT_INLINE float load(Float16Bits value) { return __half2float(__ushort_as_half(value.bits)); }
MESHWRIGHT_INLINE void store(Float16Bits& to, float value) { to.bits = __half_as_ushort(__float2half_rn(value)); }
#else
MESHWRIGHT_INLINE void store(Bfloat16Bits& to, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  to.bits = static_cast<std::uint16_t>(value != value ? 0x7fc0U : rounded);
}
MESHWRIGHT_INLINE float load(Float16Bits value) { return static_cast<float>(std::bit_cast<_Float16>(value.bits)); }
MESHWRIGHT_INLINE void store(Float16Bits& to, float value) { to.bits = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }
#endif

}  // namespace executor
