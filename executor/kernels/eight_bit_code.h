// An 8-bit number as a matrix unit reads it, and the scale of those that share one: the arithmetic that the host and a GPU's kernel share. No tensors.
// Formats: Micikevicius et al., "FP8 Formats for Deep Learning", 2022. Scales of powers of two: OCP Microscaling Formats, 2023.
//
//   e4m3   4 bits of exponent, 3 of mantissa   largest 448      inputs and weights
//   e5m2   5 bits of exponent, 2 of mantissa   largest 57344    gradients
#pragma once

#if defined(__CUDACC__)
#include <cuda_fp8.h>
#endif

#include <bit>
#include <cstdint>

#include "executor/kernels/vector_target.h"

namespace executor {

enum class EightBits : std::uint8_t { E4m3, E5m2 };
// How a scale is made of the largest magnitude that it is of. Exact: that becomes the format's largest number. PowerOfTwo: the power of two at or
// below that scale. Shared: the exponent of the largest magnitude becomes the format's largest exponent (mx), so that it may saturate.
enum class ScaleRule : std::uint8_t { Exact, PowerOfTwo, Shared };

struct EightBitFormat {
  float largest;
  std::int32_t largest_exponent, least_exponent;  // of numbers, of numbers with a whole mantissa
  std::int32_t mantissa;                          // bits
};
MESHWRIGHT_INLINE EightBitFormat format_of(EightBits format) {
  if (format == EightBits::E4m3) return {.largest = 448, .largest_exponent = 8, .least_exponent = -6, .mantissa = 3};
  return {.largest = 57344, .largest_exponent = 15, .least_exponent = -14, .mantissa = 2};
}

MESHWRIGHT_INLINE std::int32_t exponent_of(float number) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(number) >> 23 & 0xffU) - 127;
}
MESHWRIGHT_INLINE float power_of_two(std::int32_t exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

// Of a normal scale, as those of magnitudes above 2^-118 are. 1 where the largest magnitude is 0 or no number. No Shared.
MESHWRIGHT_INLINE float scale_of(float largest, EightBits format, ScaleRule rule) {
  if (!(largest > 0)) return 1;
  const float exact = 1 / largest * format_of(format).largest;
  return rule == ScaleRule::PowerOfTwo ? power_of_two(exponent_of(exact)) : exact;
}

// Rounded to nearest, ties to even; what is larger than the format's largest number becomes that. What is no number stays that.
#if defined(__CUDA_ARCH__)
MESHWRIGHT_INLINE std::uint8_t eight_bit_code(float number, EightBits format) {
  return __nv_cvt_float_to_fp8(number, __NV_SATFINITE, format == EightBits::E4m3 ? __NV_E4M3 : __NV_E5M2);
}
#else
MESHWRIGHT_INLINE std::uint8_t eight_bit_code(float number, EightBits format) {
  constexpr std::uint32_t kNoNumber = 0x7f;
  constexpr float kWholeNumbers = 0x1p23F;  // no fp32 that is as large has a fraction
  const EightBitFormat to = format_of(format);
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(number) >> 31 << 7;
  const float all = number < 0 ? -number : number, magnitude = all > to.largest ? to.largest : all;
  if (magnitude != magnitude) return static_cast<std::uint8_t>(sign | kNoNumber);
  const std::int32_t own = exponent_of(magnitude), exponent = own < to.least_exponent ? to.least_exponent : own;
  const float steps = magnitude * power_of_two(to.mantissa - exponent) + kWholeNumbers - kWholeNumbers;
  const auto above = static_cast<std::uint32_t>(exponent - to.least_exponent) << to.mantissa;
  return static_cast<std::uint8_t>(sign | (above + static_cast<std::uint32_t>(steps)));
}
#endif

}  // namespace executor
