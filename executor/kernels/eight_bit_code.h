// An 8-bit number as a matrix unit reads it, and the scale of those that share one: the arithmetic that the host and a GPU's kernel share. No tensors.
// Formats: Micikevicius et al., "FP8 Formats for Deep Learning", 2022. Scales of powers of two: OCP Microscaling Formats, 2023.
// Where a unit reads scales: NVIDIA, cuBLAS Library, "Narrow precision data types usage".
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

// Of a normal scale, as those of magnitudes above 2^-118 are. 1 where the largest magnitude is 0 or no number.
MESHWRIGHT_INLINE float scale_of(float largest, EightBits format, ScaleRule rule) {
  if (!(largest > 0)) return 1;
  if (rule == ScaleRule::Shared) return power_of_two(format_of(format).largest_exponent - exponent_of(largest));
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

// The scales of an operand of m rows that a unit sums along, a tile each: `outer` tiles down those rows, `inner` along them.
//
//   one a row, or 128 of a row   fp32                outer 0 1 2 ... of inner 0, then of inner 1, ...
//   squares of 128 x 128         fp32                inner 0 1 2 ... of outer 0, then of outer 1, ...
//   32 of a row (mx)             a byte's exponent   pieces of 128 x 4 scales: 32 rows of 4 times 4, those of outer 0 32 64 96 side by side
enum class ScaleOrder : std::uint8_t { OuterFirst, InnerFirst, Pieces };
MESHWRIGHT_INLINE ScaleOrder order_of(ScaleRule rule, bool has_squares) {
  if (rule == ScaleRule::Shared) return ScaleOrder::Pieces;
  return has_squares ? ScaleOrder::InnerFirst : ScaleOrder::OuterFirst;
}
struct UnitScales {
  std::int64_t outers = 1, inners = 1;
  ScaleOrder order = ScaleOrder::OuterFirst;
};
inline constexpr std::int64_t kPieceOuters = 128, kPieceInners = 4;
// With those that fill the last pieces.
MESHWRIGHT_INLINE UnitScales filled(const UnitScales& scales) {
  if (scales.order != ScaleOrder::Pieces) return scales;
  return {.outers = (scales.outers + kPieceOuters - 1) / kPieceOuters * kPieceOuters,
          .inners = (scales.inners + kPieceInners - 1) / kPieceInners * kPieceInners,
          .order = scales.order};
}
struct ScaledTile {
  std::int64_t outer, inner;
};
MESHWRIGHT_INLINE std::int64_t place_of(const ScaledTile& tile, const UnitScales& of_filled) {
  const auto [outer, inner] = tile;
  if (of_filled.order == ScaleOrder::OuterFirst) return inner * of_filled.outers + outer;
  if (of_filled.order == ScaleOrder::InnerFirst) return outer * of_filled.inners + inner;
  const std::int64_t piece = outer / kPieceOuters * (of_filled.inners / kPieceInners) + inner / kPieceInners;
  return piece * kPieceOuters * kPieceInners + outer % 32 * 16 + outer % kPieceOuters / 32 * kPieceInners + inner % kPieceInners;
}
// The exponent of 1 / scale, as a byte.
MESHWRIGHT_INLINE std::uint8_t shared_exponent(float scale) { return static_cast<std::uint8_t>(127 - exponent_of(scale)); }

}  // namespace executor
