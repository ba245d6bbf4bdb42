#include "sim/cost/memory_effects.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "sim/cost/activation_memory.h"
#include "tests/sim/cost/find_task.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

Bytes sum(const std::vector<MemoryChange>& changes, MemoryCategory category) {
  Bytes all{};
  for (const MemoryChange& change : changes)
    if (change.category == category) all += change.amount;
  return all;
}

struct Scene {
  explicit Scene(const ParallelPlan& of) : plan(of), model(make_model_graph(plan)), graph(lower(model, plan)), memory(model, plan) {}
  MemoryEffect effect(Phase phase, Operation operation) const { return memory.of(testing::find(graph, phase, operation), graph); }

  ParallelPlan plan;
  ModelGraph model;
  TaskGraph graph;
  MemoryEffects memory;
};

TEST(MemoryEffects, ABackwardFreesWhatItsForwardKept) {
  const Scene scene(testing::tiny_plan());
  const SegmentMemory mlp = segment_memory(scene.model, scene.plan, scene.model.layer(LayerIndex(1)).segments.back());
  EXPECT_EQ(sum(scene.effect(Phase::Forward, Operation::Mlp).at_start, MemoryCategory::Activations),
            mlp.kept + mlp.statistics + mlp.stream);
  EXPECT_EQ(sum(scene.effect(Phase::Backward, Operation::Mlp).at_end, MemoryCategory::Activations),
            -(mlp.kept + mlp.statistics + mlp.stream));
}

TEST(MemoryEffects, ARecomputedBlockKeepsItsInputOnly) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Full;
  const Scene scene(plan);
  const MemoryEffect attention = scene.effect(Phase::Forward, Operation::Attention);
  const MemoryEffect mlp = scene.effect(Phase::Forward, Operation::Mlp);
  const SegmentMemory one = segment_memory(scene.model, plan, scene.model.layer(LayerIndex(1)).segments.back());
  EXPECT_EQ(sum(attention.at_start, MemoryCategory::Activations) + sum(mlp.at_start, MemoryCategory::Activations) +
                sum(mlp.at_end, MemoryCategory::Activations),
            one.stream);
  EXPECT_EQ(sum(scene.effect(Phase::Recompute, Operation::Mlp).at_start, MemoryCategory::Activations), one.kept + one.statistics);
}

TEST(MemoryEffects, AGatheredUnitLivesFromGatherToReshard) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  const Scene scene(plan);
  const Task& gather = testing::find(scene.graph, Phase::Forward, Operation::AllGather);
  const Task& reshard = *std::find_if(scene.graph.tasks().begin(), scene.graph.tasks().end(), [&](const Task& task) {
    return task.key.operation == Operation::Reshard && task.bucket == gather.bucket;
  });
  EXPECT_EQ(sum(scene.memory.of(gather, scene.graph).at_start, MemoryCategory::GatheredUnits), gather.payload);
  EXPECT_EQ(sum(scene.memory.of(reshard, scene.graph).at_end, MemoryCategory::GatheredUnits), -gather.payload);
}

TEST(MemoryEffects, ADirectExchangeNeedsRoomForTheOthersParts) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1});
  const Scene cpu(plan);
  const Bytes payload = testing::find(cpu.graph, Phase::Gradients, Operation::AllReduce).payload;
  EXPECT_EQ(sum(cpu.effect(Phase::Gradients, Operation::AllReduce).temporary, MemoryCategory::CommunicationBuffers) * 4, payload * 3);
  plan.cluster.hardware = testing::small_gpu();
  const Scene gpu(plan);
  EXPECT_THAT(gpu.effect(Phase::Gradients, Operation::AllReduce).temporary, ::testing::IsEmpty());
}

// With sharded gradients, full ones exist between a bucket's first backward and its reduction only.
TEST(MemoryEffects, FullGradientsAreTakenAndFreedInBalance) {
  for (const std::int32_t zero_stage : {2, 3})
    for (const Accumulation accumulation : {Accumulation::ReduceLast, Accumulation::ReduceEach}) {
      ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 1});
      plan.zero_stage = zero_stage;
      plan.accumulation = accumulation;
      const Scene scene(plan);
      Bytes taken{}, balance{};
      for (const Task& task : scene.graph.tasks()) {
        const MemoryEffect effect = scene.memory.of(task, scene.graph);
        taken += sum(effect.at_start, MemoryCategory::Gradients);
        balance += sum(effect.at_start, MemoryCategory::Gradients) + sum(effect.at_end, MemoryCategory::Gradients);
      }
      EXPECT_GT(taken, Bytes(0));
      EXPECT_EQ(balance, Bytes(0));
    }
}

}  // namespace
}  // namespace sim
