// How far a simulated step time may be off: the interval that holds four of five measured ones. Its width comes from what such predictions missed
// before, so it depends on what the prices rest on.
#pragma once

#include <string_view>
#include <vector>

#include "sim/cluster/likeness.h"
#include "sim/plan/parallel_plan.h"
#include "sim/units/sim_time.h"

namespace sim {

struct PredictionInterval {
  double half_width = 0;   // relative to the prediction, as all that follows
  std::string_view basis;  // what the width rests on, for people
  double late = 0;         // of the upper end alone: runs of this kind took longer than predicted oftener than they took less
  double slower = 0;       // of the upper end alone: by so much a slower host would hold the step up (sim/cost/host_share.h)
  double faster = 0;       // of the lower end alone: by so much a faster host would let it go

  double below() const;  // how far the ends lie from the prediction
  double above() const;
  Seconds low(Seconds predicted) const { return predicted * (1 - below()); }
  Seconds high(Seconds predicted) const { return predicted * (1 + above()); }
  bool is_even() const { return late == 0 && slower == 0 && faster == 0; }
};

PredictionInterval prediction_interval(const Cluster& cluster);  // of plans in forms that the published runs have
PredictionInterval prediction_interval(
    const ParallelPlan& plan);  // wider where no run of its form was fitted: context ranks, experts, a host's memory

// What a plan has that others lack, and that a prediction may miss: "tensor", "pipeline", "nodes", "experts" ... What was learned from measured runs
// (SoftwareStack::learned_interval) holds for plans that have no form which those runs had not.
std::vector<std::string_view> forms_of(const ParallelPlan& plan);

// How likely a plan is truly faster than another, when both are predicted. What a program, a part and a network make the simulator miss, it misses in both,
// the more so the more alike they are (sim/cluster/likeness.h), and that cancels in the quotient: its logarithm, divided by what is left of the interval,
// follows Student's distribution of three degrees (odd runs are common). Degrees and shares: the likeliest for the 1,500 pairs of rows.json, each source
// left out; how often an order said with 80 % holds there and on runs to which nothing was fitted: docs/figures/accuracy.md (sim/validation/orders.h).
struct PredictedStep {
  const ParallelPlan& plan;
  Seconds time{};
};
double chance_faster(const PredictedStep& step, const PredictedStep& than);

// The same of what is kept of a plan.
struct ForeseenStep {
  Seconds time{};
  double half_width = 0;  // of its interval
  Likeness like{};
};
ForeseenStep foreseen(const PredictedStep& step);
double chance_faster(const ForeseenStep& step, const ForeseenStep& than);

}  // namespace sim
