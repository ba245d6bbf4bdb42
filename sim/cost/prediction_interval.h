// How far a simulated step time may be off: the interval that holds four of five measured ones. Its width comes from what such predictions missed
// before, so it depends on what the prices rest on.
#pragma once

#include <string_view>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/units/sim_time.h"

namespace sim {

struct PredictionInterval {
  double half_width = 0;   // relative to the prediction
  std::string_view basis;  // what the width rests on, for people
  Seconds low(Seconds predicted) const { return predicted * (half_width < 0.95 ? 1 - half_width : 0.05); }
  Seconds high(Seconds predicted) const { return predicted * (1 + half_width); }
};

PredictionInterval prediction_interval(const Cluster& cluster);  // of plans in forms that the published runs have
PredictionInterval prediction_interval(
    const ParallelPlan& plan);  // wider where no run of its form was fitted: context ranks, experts, a host's memory

// What a plan has that others lack, and that a prediction may miss: "tensor", "pipeline", "nodes", "experts" ... What was learned from measured runs
// (SoftwareStack::learned_interval) holds for plans that have no form which those runs had not.
std::vector<std::string_view> forms_of(const ParallelPlan& plan);

// How likely a plan is truly faster than another of the same question, when both are predicted. Their errors go together, so that the quotient is known as
// well as one of them is: over 197 pairs of published runs that differ in one or two settings four of five quotients lie within 0.8 of the
// interval (mean of seven sources, 0.3 to 1.5), and 171 of the 181 that differ by more than 2 % are ordered as predicted (profiles/published: rows, checks).
struct PredictedStep {
  const ParallelPlan& plan;
  Seconds time{};
};
double chance_faster(const PredictedStep& step, const PredictedStep& than);

}  // namespace sim
