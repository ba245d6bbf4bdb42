#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "sim/cost/memory_effects.h"
#include "sim/cost/resident_memory.h"
#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::Scene;
using testing::sum;

TEST(MemoryExchanges, AGatheredUnitLivesFromGatherToReshard) {
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

TEST(MemoryExchanges, ADirectExchangeNeedsRoomForTheOthersParts) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1});
  const Scene cpu(plan);
  const Bytes payload = testing::find(cpu.graph, Phase::Gradients, Operation::AllReduce).payload;
  EXPECT_EQ(sum(cpu.effect(Phase::Gradients, Operation::AllReduce).temporary, MemoryCategory::CommunicationBuffers) * 4, payload * 3);
  plan.cluster.hardware = testing::small_gpu();
  const Scene gpu(plan);
  EXPECT_THAT(gpu.effect(Phase::Gradients, Operation::AllReduce).temporary, ::testing::IsEmpty());
}

// With sharded gradients, full ones exist between a bucket's first backward and its reduction only.
TEST(MemoryExchanges, FullGradientsAreTakenAndFreedInBalance) {
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

// torch.distributed.pipelining: a place for each message that comes is there, and what a stage puts out stays until its backward.
TEST(MemoryExchanges, MessagesThatAreHeldMoveNothing) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cluster.software.own_memory = true;
  const auto moved = [&](std::int32_t held, Phase phase) {
    plan.cluster.software.held_messages = held;
    const Scene scene(plan);
    const MemoryEffect effect = scene.effect(phase, Operation::Receive);
    return sum(effect.at_start, MemoryCategory::Activations) - sum(effect.on_sender, MemoryCategory::Activations);
  };
  const Bytes message = Bytes(4) * (plan.shard_shape().tokens() * plan.model.hidden);
  for (const Phase phase : {Phase::Forward, Phase::Backward}) {
    EXPECT_EQ(moved(0, phase), message * 2) << "taken here, freed there";
    EXPECT_EQ(moved(2, phase), Bytes{});
    EXPECT_EQ(moved(3, phase), message);
  }
}

// When the schedule has ended its logits are joined, beside those of the microbatches.
TEST(MemoryExchanges, HeldLogitsAreJoinedBeforeTheStep) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cluster.software.own_memory = true;
  plan.cluster.software.held_messages = 2;
  const Scene scene(plan);
  for (const Task& task : scene.graph.tasks()) {
    if (task.key.operation != Operation::Update) continue;
    EXPECT_EQ(sum(scene.memory.of(task, scene.graph).temporary, MemoryCategory::Activations), held_logits(plan, task.key.stage));
  }
  EXPECT_GT(held_logits(plan, StageIndex(1)), Bytes{});
}

// A block's gradient is gathered before the block is made again; where its microbatch is the one that is not, among what the backward copies.
TEST(MemoryExchanges, AGradientIsGatheredEarlyWhereItsOwnMicrobatchIsMadeAgain) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.cluster.software = load_software("torchtitan");
  plan.cluster.software.compiled = false;
  plan.sequence_parallel = true;
  plan.microbatch_size = 2;
  plan.workload.global_batch = 4;
  plan.recompute = Recompute::Full;
  plan.recompute_scope.but_last = true;
  const Scene scene(plan);
  std::map<MicrobatchIndex, Bytes> copied;  // by the gathers that a block's backward begins with
  for (const Task& task : scene.graph.tasks())
    if (task.key.phase == Phase::Backward && task.key.operation == Operation::AllGather && task.key.layer == LayerIndex(1) &&
        task.key.sequence == 0)
      copied[task.key.microbatch] += sum(scene.memory.of(task, scene.graph).temporary, MemoryCategory::CommunicationBuffers);
  ASSERT_EQ(copied.size(), 2u);
  EXPECT_EQ(copied[MicrobatchIndex(0)], Bytes{});
  EXPECT_EQ(copied[MicrobatchIndex(1)], Bytes(4) * (plan.shard_shape().tokens() * plan.model.hidden));
}

}  // namespace
}  // namespace sim
