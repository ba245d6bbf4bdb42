// Plans one or two settings away from a given one that are better: ranked before it by the objective, or the ones that fit where it does not.
// What follows from a setting (the data degree; sequence parallelism without tensor ranks; the cut of other stages) is no setting of its own.
#pragma once

#include <string>
#include <vector>

#include "planner/search.h"

namespace planner {

// The question that the plan answers, with what no axis chooses as it says it: precision, buckets, prefetch, graphs.
SearchRequest request_like(const sim::ParallelPlan& plan);

struct Given {
  const sim::ParallelPlan& plan;
  const sim::SimulationResult& result;
};

struct Improvement {
  sim::ParallelPlan plan;  // with predictions
  sim::SimulationResult result;
  std::vector<std::string> changed;  // the settings, as axes
  double out_of_memory_chance = 0;
  double measure = 0;  // in the unit of the objective
};
struct Improvements {
  std::vector<Improvement> one,
      two;  // by settings changed: at most three that change different settings, and two that beat them; the best first
  std::int64_t neighbors = 0, simulated = 0;
};
// `request` as request_like() makes it; its `why_not` refuses what the program cannot say. Those with the shortest bounds are simulated, so many
// whatever the machine.
Improvements improvements(const SearchRequest& request, const Given& given);

}  // namespace planner
