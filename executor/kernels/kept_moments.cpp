#include "executor/kernels/kept_moments.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernels/numbers.h"
#include "executor/kernels/sixteen_bits.h"
#include "sim/units/at.h"

namespace executor {
namespace {

// block(range of one block, its scale) for each block of the range.
template <class Block>
void for_each_block(const KeptMoment& kept, MomentRange range, const Block& block) {
  TORCH_CHECK(range.begin % kMomentBlock == 0, "a range of moments in 8 bit begins within a block, at element ", range.begin);
  auto* const scales = numbers<float>(kept.scales);
  for (std::int64_t begin = range.begin; begin < range.end; begin += kMomentBlock)
    block(MomentRange{.begin = begin, .end = std::min(begin + kMomentBlock, range.end)}, scales[begin / kMomentBlock]);
}

// NaN where a number is not finite.
template <class Number>
float largest(const Number* values, std::int64_t count) {
  float most = 0;
  bool is_finite = true;
  for (std::int64_t at = 0; at < count; ++at) {
    const float magnitude = std::abs(static_cast<float>(values[at]));
    is_finite = is_finite && std::isfinite(magnitude);
    most = std::max(most, magnitude);
  }
  return is_finite ? most : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

template <class Number>
void read_moment(Number* into, const KeptMoment& kept, MomentRange range) {
  if (kept.table == nullptr) {
    const auto* const from = numbers<Bfloat16Bits>(kept.values);
    for (std::int64_t at = range.begin; at < range.end; ++at) into[at - range.begin] = static_cast<Number>(load(from[at]));
    return;
  }
  const auto* const codes = numbers<std::uint8_t>(kept.values);
  for_each_block(kept, range, [&](const MomentRange& block, float scale) {
    for (std::int64_t at = block.begin; at < block.end; ++at)
      into[at - range.begin] = static_cast<Number>(sim::at(*kept.table, codes[at]) * scale);
  });
}

template <class Number>
void write_moment(const Number* from, const KeptMoment& kept, MomentRange range) {
  if (kept.table == nullptr) {
    auto* const to = numbers<Bfloat16Bits>(kept.values);
    for (std::int64_t at = range.begin; at < range.end; ++at) store(to[at], static_cast<float>(from[at - range.begin]));
    return;
  }
  auto* const codes = numbers<std::uint8_t>(kept.values);
  for_each_block(kept, range, [&](const MomentRange& block, float& scale) {
    const Number* const values = from + (block.begin - range.begin);
    scale = largest(values, block.end - block.begin);
    for (std::int64_t at = block.begin; at < block.end; ++at)
      codes[at] = nearest_code(*kept.table, scale > 0 ? static_cast<float>(values[at - block.begin]) / scale : 0.0F);
  });
}

template void read_moment(float* into, const KeptMoment& kept, MomentRange range);
template void read_moment(double* into, const KeptMoment& kept, MomentRange range);
template void write_moment(const float* from, const KeptMoment& kept, MomentRange range);
template void write_moment(const double* from, const KeptMoment& kept, MomentRange range);

}  // namespace executor
