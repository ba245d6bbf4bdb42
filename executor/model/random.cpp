#include "executor/model/random.h"

#include <cmath>
#include <numbers>

namespace executor {

double random_normal(RandomKey key, std::uint64_t index) {
  const std::uint64_t pair = index & ~std::uint64_t{1};
  const double radius = std::sqrt(-2.0 * std::log(to_unit_interval(random_bits(key, pair))));
  const double angle = 2.0 * std::numbers::pi * to_unit_interval(random_bits(key, pair + 1));
  return radius * (index == pair ? std::cos(angle) : std::sin(angle));
}

}  // namespace executor
