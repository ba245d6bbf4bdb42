#include "sim/estimate/spread.h"

#include <cmath>

namespace sim {

double largest_of_normal(double count) {
  if (count < 2) return 0;
  constexpr double kEulerGamma = 0.5772156649;
  const double root = std::sqrt(2 * std::log(count));
  return root - (std::log(std::log(count)) + std::log(4 * M_PI) - 2 * kEulerGamma) / (2 * root);
}

double slowest_device(double devices, const Behavior& behavior) { return 1 + behavior.device_spread * largest_of_normal(devices); }

}  // namespace sim
