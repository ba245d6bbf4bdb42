// How far a simulated step time may be off: the interval that holds four of five measured ones. Its width comes from what such predictions missed
// before, so it depends on what the prices rest on. Used by everything that shows a prediction.
#pragma once

#include <string_view>

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

}  // namespace sim
