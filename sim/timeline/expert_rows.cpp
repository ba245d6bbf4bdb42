#include "sim/timeline/expert_rows.h"

#include <algorithm>
#include <cmath>

namespace sim {

void ExpertRows::add(std::int64_t of_an_expert) {
  const auto one = static_cast<double>(of_an_expert);
  times += 1, rows += one, squares += one * one;
}

ExpertRows& ExpertRows::operator+=(const ExpertRows& other) {
  times += other.times, rows += other.rows, squares += other.squares;
  return *this;
}

std::optional<double> spread_of(const ExpertRows& counted) {
  if (counted.rows == 0) return std::nullopt;
  const double mean = counted.rows / counted.times;
  return std::sqrt(std::max(0.0, counted.squares / counted.times / (mean * mean) - 1));
}

}  // namespace sim
