#include "sim/cost/whole_backwards.h"

#include <gtest/gtest.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

ParallelPlan dual_pipe(const char* software) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.schedule = "dualpipev";
  plan.chunks = 2;
  plan.cluster.software = load_software(software);
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

std::int32_t whole_of(const ParallelPlan& plan) {
  const WholeBackwards whole(plan);
  std::int32_t found = 0;
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage)
    for (const StageAction& action : plan.order(stage)) {
      TaskKey key;
      key.stage = stage;
      key.chunk = action.chunk;
      key.microbatch = action.microbatch;
      if (action.kind == ActionKind::Backward && whole.has(key)) ++found;
    }
  return found;
}

TEST(WholeBackwards, AreThoseWithBothHalvesSideBySide) {
  const ParallelPlan plan = dual_pipe("torchtitan-2025");
  const std::int32_t all = 2 * plan.chunks * static_cast<std::int32_t>(plan.num_microbatches());
  EXPECT_GT(whole_of(plan), all / 2);
  EXPECT_LT(whole_of(plan), all);  // the last ones wait
}

TEST(WholeBackwards, OurWorkerSplitsThemAll) { EXPECT_EQ(whole_of(dual_pipe("meshwright")), 0); }

TEST(WholeBackwards, ASchedulesOwnHalvesStayHalves) {
  ParallelPlan plan = dual_pipe("torchtitan-2025");
  plan.schedule = "zbv";
  const WholeBackwards whole(plan);
  TaskKey key;
  key.stage = StageIndex(1);
  key.chunk = ChunkIndex(0);
  key.microbatch = MicrobatchIndex(0);
  EXPECT_FALSE(whole.has(key));
}

TEST(WholeBackwards, WhatAutogradSavedWaitsForTheWeights) {
  ParallelPlan plan = dual_pipe("torchtitan-2025");
  const ModelGraph model = make_model_graph(plan);
  const SegmentGraph& mlp = model.layer(LayerIndex(1)).segments.back();
  const SegmentMemory memory = segment_memory(model, plan, mlp), waits = with_graph(memory, plan, mlp);
  EXPECT_EQ(waits.weight_inputs, memory.kept + memory.statistics + memory.stream);
  EXPECT_EQ(waits.output_gradients, memory.output_gradients + memory.stream);
  plan.cluster.software = load_software("meshwright");
  EXPECT_EQ(with_graph(memory, plan, mlp).weight_inputs, memory.weight_inputs);
}

}  // namespace
}  // namespace sim
