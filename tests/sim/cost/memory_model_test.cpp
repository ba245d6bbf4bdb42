#include "sim/cost/memory_model.h"

#include <gtest/gtest.h>

#include "sim/cost/resident_memory.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

TEST(MemoryModel, EqualTasksShareAnEffect) {
  const ParallelPlan plan = testing::tiny_plan();
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan);
  const MemoryModel memory(model, plan);
  const MemoryEffect* first = nullptr;
  for (const Task& task : graph.tasks()) {
    if (task.key.phase != Phase::Backward || task.key.operation != Operation::Mlp) continue;
    if (first == nullptr) first = &memory.effect(task, graph);
    EXPECT_EQ(&memory.effect(task, graph), first);
  }
  EXPECT_FALSE(first->at_end.empty());
}

TEST(MemoryModel, ResidentIsWhatTheBucketsHold) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 1});
  plan.zero_stage = 2;
  const ModelGraph model = make_model_graph(plan);
  const MemoryModel memory(model, plan);
  for (StageIndex stage{0}; stage.value() < 2; ++stage) {
    const StageElements elements = stage_elements(plan, make_buckets(model, plan, stage));
    const MemoryBreakdown resident = memory.resident(stage);
    EXPECT_EQ(resident[static_cast<std::size_t>(MemoryCategory::Parameters)], Bytes(4) * elements.all);
    EXPECT_EQ(resident[static_cast<std::size_t>(MemoryCategory::Gradients)], Bytes(4) * elements.owned);
    EXPECT_EQ(resident[static_cast<std::size_t>(MemoryCategory::OptimizerState)], Bytes(8) * elements.owned + kStepSummary);
  }
}

}  // namespace
}  // namespace sim
