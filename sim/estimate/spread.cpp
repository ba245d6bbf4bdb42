#include "sim/estimate/spread.h"

#include <cmath>
#include <numbers>

namespace sim {

double largest_of_normal(double count) {
  if (count < 2) return 0;
  const double root = std::sqrt(2 * std::log(count));
  return root - (std::log(std::log(count)) + std::log(4 * std::numbers::pi) - 2 * std::numbers::egamma) / (2 * root);
}

double slowest_device(double devices, const Behavior& behavior) { return 1 + behavior.device_spread * largest_of_normal(devices); }

}  // namespace sim
