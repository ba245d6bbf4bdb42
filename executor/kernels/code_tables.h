// Tables of numbers that few bits name, and the nearest of a table's.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace executor {

// 4-bit NormalFloat (QLoRA, Dettmers et al. 2023, appendix E): quantiles of the normal distribution, 0 among them.
inline constexpr std::array<float, 16> kNf4 = {-1.0F,
                                               -0.6961928009986877F,
                                               -0.5250730514526367F,
                                               -0.39491748809814453F,
                                               -0.28444138169288635F,
                                               -0.18477343022823334F,
                                               -0.09105003625154495F,
                                               0.0F,
                                               0.07958029955625534F,
                                               0.16093020141124725F,
                                               0.24611230194568634F,
                                               0.33791524171829224F,
                                               0.44070982933044434F,
                                               0.5626170039176941F,
                                               0.7229568362236023F,
                                               1.0F};
inline constexpr std::uint8_t kZeroOfNf4 = 7;

// Dynamic tree quantization (Dettmers 2016; 8-bit Optimizers, Dettmers et al. 2022): seven decades, the larger the more numbers, ascending. Signed: both
// ways from 0, and 1; unsigned: from 0 to 1.
using ByteTable = std::array<float, 256>;
const ByteTable& signed_tree();
const ByteTable& unsigned_tree();

// Of an ascending table the number nearest to `value`; of two as near the smaller one. No number: the first.
std::uint8_t nearest_code(std::span<const float> table, float value);

}  // namespace executor
