// How a double is cut into the limbs of an ExactSum: shared by the CPU's sum and the GPU's. No tensors.
//
//   value = sum over i of limbs[i] * 2^(32 i - 1074);      limb 67 counts infinities and NaNs in its lower 40 bits; what is above them is the caller's
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "executor/kernels/vector_target.h"

namespace executor {

inline constexpr std::int32_t kLimbs = 68, kLimbBits = 32;
inline constexpr std::int32_t kTopLimb = kLimbs - 2;  // holds the sign after carrying
inline constexpr std::int32_t kNotFiniteLimb = kLimbs - 1;
inline constexpr std::int64_t kNotFiniteCounts = std::int64_t{1} << 40;  // fewer than this
inline constexpr std::uint64_t kLimbMask = 0xffffffffULL;

// To be added to limbs [first, first + 3). Each is less than 2^33 in size.
struct LimbParts {
  std::int32_t first = 0;
  std::int64_t low = 0, middle = 0, high = 0;
};

MESHWRIGHT_INLINE bool is_finite(double value) { return (std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) != 0x7ff; }

// Of a finite value.
MESHWRIGHT_INLINE LimbParts limb_parts(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<std::int32_t>(bits >> 52 & 0x7ff);
  const std::uint64_t mantissa = (bits & 0xfffffffffffffULL) | (exponent == 0 ? 0 : 1ULL << 52);
  const std::int32_t position = exponent == 0 ? 0 : exponent - 1;
  const std::uint64_t low = (mantissa & kLimbMask) << position % kLimbBits, high = (mantissa >> kLimbBits) << position % kLimbBits;
  const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  return {.first = position / kLimbBits,
          .low = sign * static_cast<std::int64_t>(low & kLimbMask),
          .middle = sign * static_cast<std::int64_t>((low >> kLimbBits) + (high & kLimbMask)),
          .high = sign * static_cast<std::int64_t>(high >> kLimbBits)};
}

// Afterwards all limbs below the top one are digits, 0 .. 2^32 - 1.
MESHWRIGHT_INLINE void carry(std::int64_t* limbs) {
  std::int64_t over = 0;
  for (std::int32_t i = 0; i < kTopLimb; ++i) {
    const std::int64_t sum = limbs[i] + over;
    over = sum >> kLimbBits;  // towards minus infinity
    limbs[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) & kLimbMask);
  }
  limbs[kTopLimb] += over;
}

// Of digits: carried, and not negative.
MESHWRIGHT_INLINE bool bit_of(const std::int64_t* digits, std::int32_t position) {
  return (static_cast<std::uint64_t>(digits[position / kLimbBits]) >> (position % kLimbBits) & 1U) != 0;
}
MESHWRIGHT_INLINE std::int32_t highest_bit(const std::int64_t* digits) {  // -1: zero
  std::int32_t limb = kTopLimb, bit = -1;
  while (limb >= 0 && digits[limb] == 0) --limb;
  if (limb < 0) return -1;
  for (auto rest = static_cast<std::uint64_t>(digits[limb]); rest != 0; rest >>= 1) ++bit;
  return limb * kLimbBits + bit;
}
MESHWRIGHT_INLINE bool any_bit_below(const std::int64_t* digits, std::int32_t position) {
  for (std::int32_t limb = 0; limb < position / kLimbBits; ++limb)
    if (digits[limb] != 0) return true;
  return (static_cast<std::uint64_t>(digits[position / kLimbBits]) & ((1ULL << position % kLimbBits) - 1)) != 0;
}

// To nearest, ties to even.
MESHWRIGHT_INLINE double round_digits(const std::int64_t* digits) {
  constexpr std::int32_t kMantissaBits = 53, kLowestExponent = -1074;  // of bit 0 of limb 0
  const std::int32_t highest = highest_bit(digits), lowest = highest < kMantissaBits ? 0 : highest - (kMantissaBits - 1);
  std::uint64_t mantissa = 0;
  for (std::int32_t i = kMantissaBits; i-- > 0;) mantissa = mantissa << 1 | static_cast<std::uint64_t>(bit_of(digits, lowest + i));
  const bool half = lowest > 0 && bit_of(digits, lowest - 1);
  if (half && ((mantissa & 1) != 0 || any_bit_below(digits, lowest - 1))) ++mantissa;
  return std::ldexp(static_cast<double>(mantissa), lowest + kLowestExponent);
}

// What the limbs say, correctly rounded; NaN if anything added was not finite. The limbs are carried on the way, and lose their sign.
MESHWRIGHT_INLINE double limbs_value(std::int64_t* limbs) {
  constexpr std::uint64_t kNotANumber = 0x7ff8000000000000ULL;
  if (limbs[kNotFiniteLimb] % kNotFiniteCounts != 0) return std::bit_cast<double>(kNotANumber);
  carry(limbs);
  const bool negative = limbs[kTopLimb] < 0;
  if (!negative) return round_digits(limbs);
  for (std::int32_t i = 0; i <= kTopLimb; ++i) limbs[i] = -limbs[i];
  carry(limbs);
  return -round_digits(limbs);
}

}  // namespace executor
