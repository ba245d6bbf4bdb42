#include "sim/clock/expert_load.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/clock/spread.h"

namespace sim {
namespace {

constexpr double kNoLimit = 1e9;

// Each expert takes `limit` even shares at most.
double fullest_of(const std::vector<std::int64_t>& tokens, std::int64_t ranks, double limit) {
  const double all = real(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0})), share = all / real(std::ssize(tokens));
  double fullest = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto at = [&](std::int64_t of) { return tokens.begin() + of * std::ssize(tokens) / ranks; };
    fullest = std::max(fullest, std::accumulate(at(rank), at(rank + 1), 0.0,
                                                [&](double sum, std::int64_t one) { return sum + std::min(real(one), limit * share); }));
  }
  return fullest * real(ranks) / all;
}

double spread_of(const std::vector<std::int64_t>& tokens) {
  const double times = real(std::ssize(tokens)), mean = real(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0})) / times;
  const double squares = std::accumulate(tokens.begin(), tokens.end(), 0.0,
                                         [&](double sum, std::int64_t one) { return sum + (real(one) - mean) * (real(one) - mean); });
  return std::sqrt(squares / times) / mean;
}

// Where all tokens choose the same k of E experts: k have E / k even shares each.
double spread_of_one_choice(const ExpertForm& form) { return std::sqrt(std::max(0.0, real(form.experts) / real(form.topk) - 1)); }

}  // namespace

double load_spread(const ExpertForm& form, const ExpertLoads& loads, const Behavior& behavior) {
  if (form.forced_balance || loads.kind == LoadKind::Even) return 0;
  if (loads.kind == LoadKind::List) return spread_of(loads.tokens);
  if (loads.kind == LoadKind::Untrained) return behavior.untrained_share * spread_of_one_choice(form);
  return loads.kind == LoadKind::Spread ? loads.spread : behavior.expert_spread;
}

double expert_rows(double tokens, const Behavior& behavior) { return std::ceil(tokens / behavior.expert_tile) * behavior.expert_tile; }

double expert_load(const ExpertForm& form, const ExpertLoads& loads, std::int64_t ranks, const Behavior& behavior) {
  const bool has_limit = form.capacity_factor > 0 && form.dispatch != ExpertDispatch::Dropless;
  const double limit = has_limit ? form.capacity_factor : kNoLimit;
  if (form.dispatch == ExpertDispatch::Padded) return has_limit ? limit : 1;
  if (form.forced_balance || loads.kind == LoadKind::Even) return std::min(1.0, limit);
  if (loads.kind == LoadKind::List) return fullest_of(loads.tokens, ranks, limit);
  const double held = std::max(1.0, real(form.experts) / real(ranks));
  const double most = real(ranks) * std::min(real(form.topk), held) / real(form.topk);  // each token has chosen all that it can there
  return std::min({1 + load_spread(form, loads, behavior) / std::sqrt(held) * largest_of_normal(real(ranks)), limit, most});
}

}  // namespace sim
