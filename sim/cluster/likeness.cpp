#include "sim/cluster/likeness.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

// By hand: a dense network says little of one with experts, 16 bit half of what 8 bit do.
constexpr double kOtherKind = 0.3, kOtherNumbers = 0.5;

}  // namespace

double alike(const Likeness& one, const Likeness& other) {
  double square = 0;
  for (std::size_t at = 0; at < std::min(one.at.size(), other.at.size()); ++at)
    square += (one.at[at] - other.at[at]) * (one.at[at] - other.at[at]);
  return std::exp(-0.5 * square) * (one.kind == other.kind ? 1 : kOtherKind) * (one.numbers == other.numbers ? 1 : kOtherNumbers);
}

double learned_factor(const std::vector<LearnedRun>& runs, const Likeness& plan) {
  double sum = 0;
  for (const LearnedRun& run : runs) sum += run.weight * alike(run.like, plan);
  return std::exp(sum);
}

}  // namespace sim
