#include "sim/clock/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

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

// What is left of a microbatch's tokens where each expert takes `limit` even shares at most: on the fullest rank, in even shares, and of all.
ExpertLoad load_of(const std::vector<std::int64_t>& tokens, std::int64_t ranks, double limit) {
  const double all = real(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0})), experts = real(std::ssize(tokens));
  double fullest = 0, kept = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto at = [&](std::int64_t of) { return tokens.begin() + of * std::ssize(tokens) / ranks; };
    const double rows = std::accumulate(at(rank), at(rank + 1), 0.0,
                                        [&](double sum, std::int64_t one) { return sum + std::min(real(one), limit * all / experts); });
    fullest = std::max(fullest, rows * real(ranks) / all);
    kept += rows / all;
  }
  return {fullest, kept};
}

// Each by itself around the even share.
ExpertLoad load_of(double spread, double held, double ranks, double limit) {
  const double fullest = 1 + spread / std::sqrt(held) * largest_of_normal(ranks);
  return {std::min(fullest, limit), clipped_mean(limit, spread)};
}

}  // namespace

double expert_rows(double tokens, const Behavior& behavior) { return std::ceil(tokens / behavior.expert_tile) * behavior.expert_tile; }

ExpertLoad expert_load(const ExpertForm& form, const ExpertLoads& loads, std::int64_t ranks, const Behavior& behavior) {
  const bool is_even = form.forced_balance || loads.kind == LoadKind::Even;
  const double limit = form.capacity_factor > 0 && form.dispatch != ExpertDispatch::Dropless ? form.capacity_factor : 1e9;
  const double spread = is_even ? 0 : loads.kind == LoadKind::Spread ? loads.spread : behavior.expert_spread;
  ExpertLoad load = loads.kind == LoadKind::List && !is_even
                        ? load_of(loads.tokens, ranks, limit)
                        : load_of(spread, std::max(1.0, real(form.experts) / real(ranks)), real(ranks), limit);
  if (form.dispatch == ExpertDispatch::Padded) load.computed = form.capacity_factor > 0 ? limit : 1;
  return load;
}

}  // namespace sim
