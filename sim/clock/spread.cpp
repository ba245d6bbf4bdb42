#include "sim/clock/spread.h"

#include <cmath>
#include <numbers>

namespace sim {

double largest_of_normal(double count) {
  if (count < 2) return 0;
  const double root = std::sqrt(2 * std::log(count));
  return root - (std::log(std::log(count)) + std::log(4 * std::numbers::pi) - 2 * std::numbers::egamma) / (2 * root);
}

double slowest_device(double devices, const Behavior& behavior) { return 1 + behavior.device_spread * largest_of_normal(devices); }

double chance_above(const FourOfFive& range, double limit) {
  constexpr double kHalfWidths = 1.2816;  // standard deviations to either side that hold 80 %
  if (range.low <= 0 || limit <= 0) return range.high > limit ? 1 : 0;
  const double half = std::log(range.high / range.low) / 2, above = std::log(limit / std::sqrt(range.low * range.high));
  return half > 0 ? 0.5 * std::erfc(kHalfWidths * above / half / std::sqrt(2.0)) : above < 0 ? 1 : 0;
}

}  // namespace sim
