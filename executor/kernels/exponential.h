// e^x in fp32 that compilers turn into vector code, with the same bits in vector body and scalar tail. Within 2 units in the last place of
// the true value; below -104 it is 0, above 88.7 infinity. fp64 is the library's.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "executor/kernels/vector_target.h"

namespace executor {

// 2^n for -252 <= n <= 254 by two exact factors: a single one could not reach subnormal results.
struct PowerOfTwo {
  std::int32_t n;
};
MESHWRIGHT_INLINE float times(float value, PowerOfTwo power_of_two) {
  const std::int32_t n = power_of_two.n;
  const std::int32_t half = n >> 1, rest = n - half;
  const auto power = [](std::int32_t e) { return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23); };
  return value * power(half) * power(rest);
}

// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by the polynomial of Cephes' expf (Moshier).
MESHWRIGHT_INLINE float exponential(float x) {
  const float low = x < -104.0F ? -104.0F : x;
  const float bounded = low > 89.0F ? 89.0F : low;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = (bounded * 1.44269504088896341F + kRounder) - kRounder;
  const float r = (bounded - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  return times(p * r * r + r + 1.0F, {static_cast<std::int32_t>(n)});
}

MESHWRIGHT_INLINE double exponential(double x) { return std::exp(x); }

}  // namespace executor
