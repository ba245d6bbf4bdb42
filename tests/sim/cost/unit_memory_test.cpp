#include "sim/cost/unit_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "sim/cost/memory_effects.h"
#include "tests/sim/cost/find_task.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

constexpr auto kUnits = static_cast<std::size_t>(MemoryCategory::GatheredUnits),
               kTheirGradients = static_cast<std::size_t>(MemoryCategory::Gradients),
               kReductions = static_cast<std::size_t>(MemoryCategory::CommunicationBuffers);

ParallelPlan sharded_llama(std::int64_t global_batch = 2, const DeviceMesh& mesh = {.data = 2}) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.model = testing::tiny_llama();
  plan.zero_stage = 3;
  plan.workload.global_batch = global_batch;
  plan.workload.precision = Precision::Bf16;
  plan.cluster.software = load_software("torchtitan-2026");
  return plan;
}

struct UnitScene {
  explicit UnitScene(const ParallelPlan& of)
      : plan(of),
        model(make_model_graph(plan)),
        graph(lower(model, plan)),
        memory(model, plan, graph, ByLayerKind<GradientsCome>(model.firsts.size())) {}
  const UnitMoves& at(Phase phase, Operation operation) const { return *memory.of(testing::find(graph, phase, operation).key); }

  ParallelPlan plan;
  ModelGraph model;
  TaskGraph graph;
  UnitMemory memory;
};

MemoryBreakdown left_by(const MemorySteps& steps) {
  MemoryBreakdown all{};
  for (const MemoryChange& change : steps.all()) all[static_cast<std::size_t>(change.category)] += change.amount;
  return all;
}

TEST(UnitMemory, AUnitIsCopiedOutOfItsBuffer) {
  const UnitScene scene(sharded_llama());
  const Bytes unit = testing::find(scene.graph, Phase::Forward, Operation::AllGather).payload;
  const UnitMoves& first = scene.at(Phase::Forward, Operation::Embedding);
  EXPECT_EQ(left_by(first.before)[kUnits], unit * std::int64_t{2});
  EXPECT_EQ(left_by(first.after)[kUnits], -unit) << "the copy goes, the buffer stays until the next unit has its own";
  EXPECT_EQ(effect_of(first.before).temporary.front().amount, unit * std::int64_t{2});
}

TEST(UnitMemory, AnInputOfAReductionStaysUntilTheNext) {
  const UnitScene scene(sharded_llama());
  const UnitMoves& head = scene.at(Phase::Backward, Operation::Head);
  const Bytes reduced = testing::find(scene.graph, Phase::Gradients, Operation::ReduceScatter).payload;
  EXPECT_EQ(left_by(head.after)[kReductions], reduced);
  const Task& attention = testing::find(scene.graph, Phase::Backward, Operation::Attention);
  for (const Task& task : scene.graph.tasks()) {
    if (task.key.operation != Operation::ReduceScatter || task.key.layer != attention.key.layer) continue;
    EXPECT_EQ(left_by(scene.memory.of(attention.key)->after)[kReductions], task.payload - reduced);
  }
}

TEST(UnitMemory, WhateverComesGoes) {
  for (const std::int64_t global_batch : {2, 6})
    for (const Accumulation accumulation : {Accumulation::ReduceEach, Accumulation::ReduceLast})
      for (const auto& [reshards, stages] : {std::pair(true, 1), std::pair(false, 1), std::pair(true, 2), std::pair(false, 2)}) {
        ParallelPlan plan = sharded_llama(global_batch, {.data = 2, .pipeline = stages});
        plan.accumulation = accumulation;
        plan.reshard_after_forward = reshards;
        if (stages > 1) plan.schedule = "zb-1p";  // its last reductions stand behind weight gradients
        const UnitScene scene(plan);
        MemoryBreakdown all{};
        for (const Task& task : scene.graph.tasks())
          if (const UnitMoves* moves = scene.memory.of(task.key))
            for (const MemorySteps* steps : {&moves->before, &moves->between, &moves->after})
              for (std::size_t category = 0; category < all.size(); ++category) all[category] += left_by(*steps)[category];
        EXPECT_EQ(all, MemoryBreakdown{});
      }
}

// What microbatches sum is as wide as what is reduced, and not cut yet.
TEST(UnitMemory, GradientsThatNobodyReducedAreSums) {
  ParallelPlan plan = sharded_llama(4);
  plan.accumulation = Accumulation::ReduceLast;
  const UnitScene scene(plan);
  const UnitMoves& head = scene.at(Phase::Backward, Operation::Head);
  const std::int64_t elements = scene.model.padded_vocabulary * plan.model.hidden + plan.model.hidden;
  EXPECT_EQ(left_by(head.before)[kTheirGradients], Bytes(2) * elements);
  EXPECT_EQ(left_by(head.after)[kTheirGradients], plan.bytes(Numbers::Wire) * elements - Bytes(2) * elements);
}

TEST(UnitMemory, IsOfFullyShardedPlansOfItsPrograms) {
  ParallelPlan plan = sharded_llama();
  EXPECT_TRUE(follows_units(plan));
  plan.zero_stage = 2;
  EXPECT_FALSE(follows_units(plan));
  plan.zero_stage = 3;
  plan.cluster.software = load_software("fsdp1");
  EXPECT_FALSE(follows_units(plan));
}

}  // namespace
}  // namespace sim
