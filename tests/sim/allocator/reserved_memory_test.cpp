#include "sim/allocator/reserved_memory.h"

#include <gtest/gtest.h>

#include "sim/cost/memory_model.h"
#include "sim/units/at.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan on_a_gpu(ParallelPlan plan, const std::string& allocator) {
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.cluster.software.own_memory = true;
  plan.cluster.software.allocator = allocator;
  return plan;
}

TEST(ReservedMemory, IsMoreThanTensorsOccupyAndNothingWithoutSuchAnAllocator) {
  const ParallelPlan plan = on_a_gpu(testing::tiny_plan(), "segments");
  const ReservedMemory memory = reserved_memory(plan, StageIndex(0));
  EXPECT_GT(memory.allocated, Bytes(0));
  EXPECT_GT(memory.reserved, memory.allocated);
  EXPECT_EQ(reserved_memory(on_a_gpu(plan, "other"), StageIndex(0)).reserved, Bytes(0));
  ParallelPlan on_cpu = plan;
  on_cpu.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_EQ(reserved_memory(on_cpu, StageIndex(0)).cached(), Bytes(0));
}

TEST(ReservedMemory, HoldsForEveryKindOfPlan) {
  testing::PlanGenerator generator(47);
  for (int i = 0; i < 40; ++i) {
    const ParallelPlan plan = on_a_gpu(generator.next(DeviceKind::Gpu), i % 2 == 0 ? "segments" : "expandable");
    SCOPED_TRACE(testing::describe(plan));
    const ModelGraph model = make_model_graph(plan);
    for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
      const ReservedMemory memory = reserved_memory(plan, stage);
      EXPECT_GE(memory.reserved, memory.allocated);
      EXPECT_GE(memory.allocated, sim::at(MemoryModel(model, plan).resident(stage), MemoryCategory::Parameters));
    }
  }
}

// Microbatches behind those in flight change nothing.
TEST(ReservedMemory, IsThatOfAFewMicrobatches) {
  ParallelPlan plan = on_a_gpu(testing::tiny_plan({.pipeline = 2}), "segments");
  plan.workload.sequence = 1024;
  plan.microbatch_size = 64;
  plan.workload.global_batch = 16 * plan.microbatch_size;
  const ReservedMemory many = reserved_memory(plan, StageIndex(0));
  const ModelGraph model = make_model_graph(plan);
  const ReservedMemory all = reserved_memory(model, plan, lower(model, plan), DeviceId(0));
  EXPECT_NEAR(static_cast<double>(many.cached().value()) / static_cast<double>(all.cached().value()), 1, 0.02);
}

// States that come unit by unit are all there behind the first step: what tensors occupy at most is the same, but for the gradients of others.
TEST(ReservedMemory, LacksTheGradientsOfOtherUnitsWhereWeightsAreSteppedInTheBackward) {
  ParallelPlan plan = on_a_gpu(testing::tiny_plan(), "segments");
  plan.workload.global_batch = plan.microbatch_size;
  plan.training.gradient_clip = 0;
  const ReservedMemory behind = reserved_memory(plan, StageIndex(0));
  plan.optimizer_in_backward = true;
  ASSERT_TRUE(violations(plan).empty());
  const ReservedMemory inside = reserved_memory(plan, StageIndex(0));
  const ModelGraph model = make_model_graph(plan);
  const MemoryBreakdown resident = MemoryModel(model, plan).resident(StageIndex(0));
  EXPECT_GE(inside.allocated, total(resident));
  EXPECT_LT(inside.allocated, behind.allocated);
  EXPECT_LT(inside.reserved, behind.reserved);
}

}  // namespace
}  // namespace sim
