#include "planner/found_so_far.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "planner/evaluator.h"
#include "sim/cost/memory_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/units/at.h"

namespace planner {

FoundSoFar::FoundSoFar(const SearchRequest& request)
    : request_(request),
      safe_(sim::most_occupied(request.cluster, {.limit = memory_limit(request), .chance = request.risk})),
      frontier_(sim::count_of(std::max(1, request.top)),
                {.gap = request.gap, .holds_for_front = request.front, .ceiling = request.ceiling}) {}

bool FoundSoFar::has_ranks() const { return std::ssize(frontier_.ranked()) >= std::max(1, request_.top); }

// Of plans that are surely too risky the fastest is told, if it is faster than the best.
bool FoundSoFar::can_matter(const Outcome& bound) const {
  if (!is_surely_risky(bound)) return frontier_.can_enter(bound);
  const Outcome generous = relaxed(bound, request_.gap);
  const bool gains = !has_ranked() || generous.time < frontier_.ranked().front().time;
  return gains && (!fastest_risky_ || generous < *fastest_risky_);
}

Verdict FoundSoFar::take(const Outcome& simulated, const sim::ParallelPlan& plan, sim::SimulationResult result) {
  ++simulated_;
  if (simulated.memory > memory_limit(request_) || !result.host_fits) {
    ++too_large_;
    return Verdict::TooLarge;
  }
  const bool is_risky = sim::out_of_memory_chance(plan, result, memory_limit(request_)) > request_.risk;
  if (is_risky) {
    ++risky_;
    if (fastest_risky_ && !(simulated < *fastest_risky_)) return Verdict::TooRisky;
    fastest_risky_ = simulated;
  } else {
    frontier_.add(simulated);
  }
  results_[simulated.index] = std::move(result);
  return is_risky ? Verdict::TooRisky : Verdict::Simulated;
}

void FoundSoFar::forget_others() {
  std::map<std::int64_t, sim::SimulationResult> needed;
  const auto keep = [&](const Outcome& outcome) {
    if (const auto result = results_.find(outcome.index); result != results_.end()) needed.insert(results_.extract(result));
  };
  std::ranges::for_each(frontier_.ranked(), keep);
  std::ranges::for_each(frontier_.pareto(), keep);
  if (fastest_risky_) keep(*fastest_risky_);
  results_ = std::move(needed);
}

}  // namespace planner
