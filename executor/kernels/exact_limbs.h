// How a double is cut into the limbs of an ExactSum: shared by the CPU's sum and the GPU's. No tensors.
//
//   value = sum over i of limbs[i] * 2^(32 i - 1074);      limb 67 counts infinities and NaNs
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "executor/kernels/vector_target.h"

namespace executor {

inline constexpr std::int32_t kLimbs = 68, kLimbBits = 32;
inline constexpr std::int32_t kTopLimb = kLimbs - 2;  // holds the sign after carrying
inline constexpr std::int32_t kNotFiniteLimb = kLimbs - 1;
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

}  // namespace executor
