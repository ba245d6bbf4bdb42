#include "executor/kernels/code_tables.h"

#include <algorithm>
#include <cmath>

#include "sim/units/at.h"

namespace executor {
namespace {

constexpr int kDecades = 7;

// Between 0.1 and 1 so many stretches, a number in the middle of each; rounded once, as torch.linspace rounds: bitsandbytes' table, bit for bit.
float middle(std::int64_t stretch, std::int64_t stretches) {
  const float step = (1.0F - 0.1F) / static_cast<float>(stretches);
  const auto bound = [&](std::int64_t at) {
    return at < (stretches + 1) / 2 ? std::fma(step, static_cast<float>(at), 0.1F)
                                    : std::fma(-step, static_cast<float>(stretches - at), 1.0F);
  };
  return (bound(stretch) + bound(stretch + 1)) / 2.0F;
}

ByteTable make_tree(bool is_signed) {
  ByteTable table{};
  std::size_t next = 0;
  for (int decade = 0; decade < kDecades; ++decade) {
    const std::int64_t stretches = std::int64_t{1} << (is_signed ? decade : decade + 1);
    const auto scale = static_cast<float>(std::pow(10.0, decade - (kDecades - 1)));
    for (std::int64_t at = 0; at < stretches; ++at) {
      table.at(next++) = scale * middle(at, stretches);
      if (is_signed) table.at(next++) = -scale * middle(at, stretches);
    }
  }
  table.at(next++) = 0.0F;
  table.at(next) = 1.0F;
  std::ranges::sort(table);
  return table;
}

}  // namespace

const ByteTable& signed_tree() {
  static const ByteTable table = make_tree(true);
  return table;
}
const ByteTable& unsigned_tree() {
  static const ByteTable table = make_tree(false);
  return table;
}

std::uint8_t nearest_code(std::span<const float> table, float value) {
  const auto above = std::ranges::lower_bound(table, value);
  if (above == table.begin() || std::isnan(value)) return 0;
  const auto at = above - table.begin();
  if (above == table.end()) return static_cast<std::uint8_t>(at - 1);
  const bool is_below = std::abs(value - sim::at(table, at - 1)) <= std::abs(value - *above);
  return static_cast<std::uint8_t>(is_below ? at - 1 : at);
}

}  // namespace executor
