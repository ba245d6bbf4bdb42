// Finds the best plans for a model on a cluster: exhaustive over the joint space, pruned by memory and by an admissible
// lower bound on step time, so the optimum is proven; the rest is simulated.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/exclusion.h"
#include "planner/judgement.h"
#include "planner/objective.h"
#include "planner/reason.h"
#include "sim/engine/simulate.h"
#include "sim/goodput/goodput.h"
#include "sim/plan/parallel_plan.h"

namespace planner {

using Fixed = std::map<std::string, std::string>;  // axis=value: names of all_axes(), values as sim::parse_value() takes them

// What a plan is the step of, on devices that fail: of Objective::TimeToTrain.
struct WholeTraining {
  std::int64_t steps = 0;
  sim::Reliability reliability;  // without an interval: each plan has its best one
  std::int32_t most_spares = 0;  // so many nodes at most are held back: how many is a choice of search_as_asked()
};

struct SearchRequest {
  sim::ModelConfig model;
  sim::Cluster cluster;
  sim::Workload workload;
  std::optional<sim::Bytes> memory_limit;  // default: the device's
  double risk = 0.05;                      // chance to run out of memory up to which plans compete
  double gap = 0.01;                       // share by which what is found may be behind what there is: see Frontier; 0: exact
  bool front = true;                       // the gap holds for the Pareto front, too; else the search ends with the ranks
  bool robust = false;  // ranked by the 90th percentile of the step, the upper end of its interval; else by the step predicted
  Objective objective = Objective::Step;  // what plans are ranked by; see why_not_ranked()
  WholeTraining whole;
  bool fewer = false;                     // search_as_asked() looks at fewer devices, too
  std::optional<sim::SimTime> ceiling{};  // what ranks there is left out, as if so many plans were known that are better
  Fixed fixed;
  std::optional<sim::ParallelPlan>
      known{};  // is looked at first, if it is in the space: what is found is not behind it, however early the search ends
  Fixed own{};  // of a plan that is asked about: recompute_scope, beside the usual values; cuda_graphs and attention
  std::int32_t top = 5;
  std::function<std::vector<sim::Violation>(const sim::ParallelPlan&)>
      why_not;  // plans with an answer do not compete; null: all do. From several threads
  std::function<void(sim::ParallelPlan&)>
      habits;            // of the program that performs the plans: what no axis chooses; null: none. From several threads
  bool offload = false;  // plans that use the host's memory compete from the start; else only where no other is feasible
  std::int64_t vocabulary_multiple = 128;
  sim::TrainingSettings training;
};

struct RankedPlan {
  sim::ParallelPlan plan;        // with predictions
  sim::SimulationResult result;  // summary
  std::vector<Reason> reasons;   // why it is not the best: empty for the best
  std::string why_not_best;      // the same as a sentence: "8.3 % slower: bubble 11.0 % against 4.1 %, ..."
  double measure = 0;            // in the unit of the objective
  double ranked_by = 0;          // that; of a robust search its 90th percentile
  double order_gain = 0;         // share of the measure that an order searched for its passes saves; 0: it has that of its schedule
  double out_of_memory_chance = 0;
  double slower_chance = 0.5;  // that it is truly behind the best
};

inline constexpr double kSureOrder = 0.8;  // an order that holds with less is a tie

struct SearchResult {
  std::vector<RankedPlan> ranked;  // best first, at most `top`
  std::vector<RankedPlan>
      pareto;  // step time ascending, peak memory descending; where the gap does not hold for it: of the plans simulated
  // The fastest plan that fits with a chance above `risk` to run out of memory, where it is faster than the best; at most one. Its reasons say
  // what it would gain.
  std::vector<RankedPlan> risky;
  std::vector<Exclusion> excluded;
  std::int64_t candidates = 0, infeasible = 0, pruned_memory = 0, pruned_risk = 0, pruned_bound = 0, simulated = 0;
  std::int64_t open = 0;              // not judged: the search was ended before
  std::optional<double> gap;          // share by which the best plan is above what any can be, proven; none: nothing is
  std::vector<Judgement> judgements;  // the certificate: of every candidate, in the order of enumerate()
  std::string proof;                  // what holds over how many candidates, and by which of the counts above
};

struct SearchProgress {
  std::int64_t done = 0, all = 0;  // candidates
  double best = 0, least = 0;      // measure of the best plan so far (0: none yet), and what surely no plan is below
};
using Progress = std::function<void(SearchProgress)>;
// `progress` is called from several threads, one at a time. `cancel` ends the search soon, with what is known so far and the gap proven until then.
// Throws sim::InputError when `fixed` names an unknown axis or value. An empty `ranked` means: nothing is feasible (exit 10).
SearchResult search(const SearchRequest& request, const Progress& progress = {}, const std::atomic<bool>* cancel = nullptr);

}  // namespace planner
