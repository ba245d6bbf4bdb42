#include "planner/frontier.h"

#include <algorithm>

namespace planner {

bool dominates(const Outcome& a, const Outcome& b) {
  if (a.time > b.time || a.memory > b.memory) return false;
  return a.time < b.time || a.memory < b.memory || a.index < b.index;
}

Outcome relaxed(const Outcome& bound, double gap) {
  const auto more = [&](std::int64_t count) { return count + static_cast<std::int64_t>(static_cast<double>(count) * gap); };
  return {.time = sim::SimTime(more(bound.time.count())), .memory = sim::Bytes(more(bound.memory.value())), .index = bound.index};
}

void Frontier::add(const Outcome& simulated) {
  ranked_.insert(std::upper_bound(ranked_.begin(), ranked_.end(), simulated), simulated);
  if (ranked_.size() > top_) ranked_.pop_back();
  if (std::any_of(pareto_.begin(), pareto_.end(), [&](const Outcome& other) { return dominates(other, simulated); })) return;
  pareto_.erase(std::remove_if(pareto_.begin(), pareto_.end(), [&](const Outcome& other) { return dominates(simulated, other); }),
                pareto_.end());
  pareto_.insert(std::upper_bound(pareto_.begin(), pareto_.end(), simulated), simulated);
}

bool Frontier::can_enter(const Outcome& bound) const {
  const Outcome generous = relaxed(bound, tolerance_.gap);
  if (tolerance_.ceiling && generous.time >= *tolerance_.ceiling) return false;
  if (ranked_.size() < top_ || generous < ranked_.back()) return true;
  return tolerance_.holds_for_front &&
         std::none_of(pareto_.begin(), pareto_.end(), [&](const Outcome& simulated) { return dominates(simulated, generous); });
}

}  // namespace planner
