// A plan, its graph and what its tasks do to memory.
#pragma once

#include <vector>

#include "sim/cost/activation_memory.h"
#include "sim/cost/memory_effects.h"
#include "tests/sim/cost/find_task.h"
#include "tests/sim/cost/random_plans.h"

namespace sim::testing {

inline Bytes sum(const std::vector<MemoryChange>& changes, MemoryCategory category) {
  Bytes all{};
  for (const MemoryChange& change : changes)
    if (change.category == category) all += change.amount;
  return all;
}

// Of the first segment with that name; empty where the model has none.
inline SegmentMemory memory_of(const ParallelPlan& plan, Operation name) {
  const ModelGraph model = make_model_graph(plan);
  for (const Layer& layer : model.layers)
    for (const SegmentGraph& segment : layer.segments)
      if (segment.name == name) return segment_memory(model, plan, segment);
  return {};
}

// Of a segment of a layer.
inline Bytes kept_by(const ParallelPlan& plan, int layer, std::size_t segment = 0) {
  const ModelGraph model = make_model_graph(plan);
  return segment_memory(model, plan, model.layer(LayerIndex(layer)).segments[segment]).kept;
}

struct Scene {
  explicit Scene(const ParallelPlan& of) : plan(of), model(make_model_graph(plan)), graph(lower(model, plan)), memory(model, plan) {}
  MemoryEffect effect(Phase phase, Operation operation) const { return memory.of(find(graph, phase, operation), graph); }

  ParallelPlan plan;
  ModelGraph model;
  TaskGraph graph;
  MemoryEffects memory;
};

}  // namespace sim::testing
