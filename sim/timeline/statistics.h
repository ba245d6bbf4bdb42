// Medians and quartiles of a few samples.
#pragma once

#include <utility>
#include <vector>

namespace sim {

struct Quantile {
  double share = 0.5;
};                                                          // 0 smallest, 1 largest
double quantile(std::vector<double> samples, Quantile at);  // linear between neighbors; 0 of no samples
inline double median(std::vector<double> samples) { return quantile(std::move(samples), {0.5}); }

}  // namespace sim
