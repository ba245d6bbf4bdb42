#include "sim/timeline/expert_rows.h"

#include <algorithm>
#include <cmath>

namespace sim {

void ExpertRows::add(std::int64_t of_an_expert) {
  ++times;
  rows += of_an_expert;
  squares += of_an_expert * of_an_expert;
}

ExpertRows& ExpertRows::operator+=(const ExpertRows& other) {
  times += other.times, rows += other.rows, squares += other.squares;
  return *this;
}

std::optional<double> spread_of(const ExpertRows& counted) {
  if (counted.rows == 0) return std::nullopt;
  const auto times = static_cast<double>(counted.times), rows = static_cast<double>(counted.rows);
  const double mean = rows / times, square = static_cast<double>(counted.squares) / times;
  return std::sqrt(std::max(0.0, square / (mean * mean) - 1));
}

}  // namespace sim
