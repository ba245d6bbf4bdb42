#include "sim/clock/expert_load.h"

#include <algorithm>
#include <cmath>

#include "sim/clock/spread.h"

namespace sim {
namespace {

// Mean of min(X, limit) for X normal around 1.
double clipped_mean(double limit, double spread) {
  if (spread <= 0) return std::min(1.0, limit);
  const double z = (limit - 1) / spread;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI), below = std::erfc(-z / std::sqrt(2.0)) / 2;
  return below - spread * density + limit * (1 - below);
}

}  // namespace

double expert_rows(double tokens, const Behavior& behavior) { return std::ceil(tokens / behavior.expert_tile) * behavior.expert_tile; }

ExpertLoad expert_load(const ExpertForm& form, std::int64_t ranks, const Behavior& behavior) {
  const double spread = behavior.expert_spread;
  const double limit = form.capacity_factor > 0 ? form.capacity_factor : 1e9;
  if (form.dispatch == ExpertDispatch::Padded)
    return {form.capacity_factor > 0 ? limit : 1, form.forced_balance ? 1 : clipped_mean(limit, spread)};
  if (form.forced_balance) return {std::min(1.0, limit), std::min(1.0, limit)};
  const double held = std::max(1.0, real(form.experts) / real(ranks));
  const double fullest = 1 + spread / std::sqrt(held) * largest_of_normal(real(ranks));
  if (form.dispatch == ExpertDispatch::Dropless) return {fullest, 1};
  return {std::min(fullest, limit), clipped_mean(limit, spread)};
}

}  // namespace sim
