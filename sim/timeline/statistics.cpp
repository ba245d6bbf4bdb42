#include "sim/timeline/statistics.h"

#include <algorithm>
#include <cmath>

namespace sim {

double quantile(std::vector<double> samples, Quantile at) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double position = at.share * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (samples[above] - samples[below]) * (position - std::floor(position));
}

}  // namespace sim
