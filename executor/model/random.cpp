#include "executor/model/random.h"

#include <cmath>
#include <numbers>

namespace executor {

NormalPair random_normals(RandomKey key, std::uint64_t even_index) {
  const double radius = std::sqrt(-2.0 * std::log(to_unit_interval(random_bits(key, even_index))));
  const double angle = 2.0 * std::numbers::pi * to_unit_interval(random_bits(key, even_index + 1));
  return {.even = radius * std::cos(angle), .odd = radius * std::sin(angle)};
}

}  // namespace executor
