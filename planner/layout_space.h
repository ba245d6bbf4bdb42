// Every layout of a network on a cluster that the step estimate can price: data, tensor, context, pipeline and expert degrees, schedule and chunks,
// microbatch, ZeRO stage, recomputation. Wider than search_space (experts, context), whose plans can be lowered and run. Used by layouts.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/estimate/run_description.h"
#include "sim/units/input_error.h"

namespace planner {

struct LayoutRequest {
  sim::Network network;  // with its sequence
  sim::Cluster cluster;
  std::int64_t global_batch = 1;  // samples
  sim::NumberFormat format = sim::NumberFormat::Bf16;
  std::int32_t top = 5;
};

// All faults of a question at once; empty: it can be asked.
std::vector<sim::Violation> layout_violations(const LayoutRequest& request);

// Without recomputation: each is tried with more until it fits. In a fixed order.
std::vector<sim::RunDescription> layout_space(const LayoutRequest& request);

}  // namespace planner
