// What a person may turn on a plan; the data degree follows: devices / (tensor x pipeline). Used by the edit panel and its undo commands.
#pragma once

#include <cstdint>
#include <string>

#include "sim/plan/parallel_plan.h"

namespace gui {

struct Knobs {
  std::int32_t tensor = 1, pipeline = 1, chunks = 1;
  std::string schedule = "1f1b";
  std::int64_t microbatch = 1;
  std::int32_t zero_stage = 0;
  sim::Accumulation accumulation = sim::Accumulation::ReduceLast;
  std::int32_t layers_per_unit = 1, reshard_ranks = 1;  // of ZeRO 3
  sim::Recompute recompute = sim::Recompute::None;
  bool sequence_parallel = false;
  bool offload_optimizer = false, offload_activations = false;  // the latter with recompute full alone
  bool operator==(const Knobs&) const = default;
};

Knobs knobsOf(const sim::ParallelPlan& plan);
// The stage cut is kept where stages and chunks are, and even otherwise. The result may break rules: sim::violations says which.
sim::ParallelPlan turned(sim::ParallelPlan plan, const Knobs& knobs);

// The boundary in front of virtual stage `part` moved to layer `first`, as far as its neighbors leave a layer each.
struct Boundary {
  std::size_t part = 1;
  sim::LayerIndex first;
};
sim::ParallelPlan movedBoundary(sim::ParallelPlan plan, const Boundary& boundary);

}  // namespace gui
