// What a search found, as plans with predictions and the reasons why they are not the best.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "planner/candidates.h"
#include "planner/frontier.h"
#include "planner/ranking.h"
#include "planner/search.h"

namespace planner {

struct Found {
  const SearchRequest& request;
  const sim::ModelGraph& model;
  const Candidates& candidates;
  const std::map<std::int64_t, sim::SimulationResult>& results;  // by candidate: of each that is asked about
  const Ranking& ranking;
};

// What another plan is behind for, and how likely it truly is.
void compare_to_best(RankedPlan& plan, const RankedPlan& best, Objective objective);
void compare_to_first(std::vector<RankedPlan>& ranked, Objective objective);  // each; the first is the best

// What the simulator says of a plan, kept with it.
void put_predictions(sim::ParallelPlan& plan, const sim::SimulationResult& result);

RankedPlan ranked_plan(const Found& found, const Outcome& outcome, const Outcome& best);
// Of one that may run out of memory: how likely, and what it would gain over the best, if there is one, by their measures.
void say_risk(const SearchRequest& request, RankedPlan& risky, std::optional<double> best);
RankedPlan risky_plan(const Found& found, const Outcome& outcome, const std::optional<Outcome>& best);

}  // namespace planner
