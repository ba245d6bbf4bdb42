#include "sim/cost/memory_effects.h"

#include <gmock/gmock.h>

#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::Scene;
using testing::sum;

Bytes moved(const Scene& scene, LayerIndex layer) {
  Bytes all{};
  for (const Task& task : scene.graph.tasks()) {
    if (task.key.layer != layer || task.key.phase != Phase::Backward || task.key.microbatch != MicrobatchIndex(0)) continue;
    const MemoryEffect effect = scene.memory.of(task, scene.graph);
    all += sum(effect.at_start, MemoryCategory::Activations) + sum(effect.at_end, MemoryCategory::Activations);
  }
  return all;
}

// FullyShardedDataParallel over frozen weights: as many inputs and gradients as there are blocks, until the embedding's backward.
TEST(MemoryEffects, InputsOfFrozenBlocksStayUntilTheBackwardEnds) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.model.adapters = Adapters{.rank = 8}.on(AdapterTarget::Query);
  plan.zero_stage = 3;
  plan.recompute = Recompute::Full;
  plan.cluster.software.own_memory = true;
  const Scene usual(plan);
  plan.cluster.software.keeps_block_inputs = true;
  const Scene holding(plan);
  const Bytes each = usual.memory.stream() * std::int64_t{2};
  EXPECT_EQ(moved(holding, LayerIndex(1)) - moved(usual, LayerIndex(1)), each);
  EXPECT_EQ(moved(usual, LayerIndex(0)) - moved(holding, LayerIndex(0)), each * std::int64_t{plan.model.layers});
  plan.recompute = Recompute::None;
  EXPECT_EQ(moved(Scene(plan), LayerIndex(0)), moved(usual, LayerIndex(0))) << "no leaves without checkpoints";
}

// 4 bytes of each element that the rank steps, beside its states, whichever bucket's turn it is.
TEST(MemoryEffects, RootsOfAllMomentsAreWrittenOut) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.software.own_memory = true;
  plan.vocabulary_multiple = 1;  // without padding
  const auto held = [&] { return sum(Scene(plan).effect(Phase::Step, Operation::Update).temporary, MemoryCategory::Temporaries); };
  EXPECT_EQ(held(), Bytes(0));
  plan.cluster.software.steps_by_lists = true;
  const Bytes all = Bytes(4) * num_parameters(make_model_graph(plan));
  EXPECT_EQ(held(), all);
  plan.offload_optimizer = true;
  plan.offload_share = 0.75;
  EXPECT_LE(held(), all / 4) << "the host writes its own";
  EXPECT_GT(held(), all / 4 - Bytes(4) * std::int64_t{8}) << "rounded to whole numbers in each bucket";
  plan.offload_optimizer = false;
  plan.workload.optimizer = OptimizerKind::Sgd;
  EXPECT_EQ(held(), Bytes(0));
}

}  // namespace
}  // namespace sim
