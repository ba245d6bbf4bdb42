// What a search should find: all plans of a space, simulated and ordered.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "planner/evaluator.h"
#include "planner/frontier.h"
#include "planner/ranking.h"
#include "sim/engine/out_of_memory.h"
#include "tests/planner/every_plan.h"

namespace planner {

// As plans of the request are ordered.
inline sim::SimTime rank_of(const SearchRequest& request, const sim::SimulationResult& result) {
  return Ranking(request).of_step(step_time_of(result));
}

struct Everything {
  Frontier frontier;
  std::optional<Outcome> risky;  // the fastest that fits at too high a chance, if it is faster than the best
};

struct Savings {  // of a search
  std::int64_t simulated = 0, open = 0;
};

// The result of simulating everything. Of questions that differ in what fits and what is ranked alone: each plan is simulated once.
class BruteForce {
 public:
  Everything answer(const SearchRequest& request) {
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    const std::vector<PlanCandidate> candidates = enumerate(request).candidates.all();
    Everything found{.frontier = Frontier(static_cast<std::size_t>(request.top)), .risky = {}};
    Evaluator evaluator(request, model);
    for (std::size_t at = 0; at < candidates.size(); ++at) {
      const sim::ParallelPlan plan = evaluator.plan(candidates[at]);
      if (!sim::violations(plan).empty() || (request.why_not && !request.why_not(plan).empty())) continue;
      const sim::SimulationResult& result = simulated(model, plan, {request.offload, at});
      if (result.peak_memory > memory_limit(request) || !result.host_fits) continue;
      const Outcome outcome{.time = rank_of(request, result), .memory = result.peak_memory, .index = static_cast<std::int64_t>(at)};
      if (sim::out_of_memory_chance(plan, result, memory_limit(request)) <= request.risk)
        found.frontier.add(outcome);
      else if (!found.risky || outcome < *found.risky)
        found.risky = outcome;
    }
    const auto& ranked = found.frontier.ranked();
    if (found.risky && !ranked.empty() && ranked.front().time <= found.risky->time) found.risky.reset();
    return found;
  }

  using Place = std::pair<bool, std::size_t>;  // with a host or without, and of the space
  const sim::SimulationResult& simulated(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const Place& place) {
    const auto [known, is_new] = known_.try_emplace(place);
    if (is_new) known->second = simulate(model, plan);
    return known->second;
  }

 private:
  std::map<Place, sim::SimulationResult> known_;
};

}  // namespace planner
