#include "sim/cost/memory_beside.h"

#include <gtest/gtest.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

ParallelPlan on_a100s(DeviceMesh mesh) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.cluster.hardware.devices_per_node = 8;
  plan.cluster.hardware.intra_node.lanes = 12;
  return plan;
}

TEST(MemoryBeside, AGroupIsWhatWasSeenOfOne) {
  const MemoryBeside beside = memory_beside(on_a100s({.data = 4}), {});
  EXPECT_EQ(beside.channels, 24);
  EXPECT_EQ(beside.communicators, 2) << "all ranks, and those that share gradients";
  EXPECT_EQ(beside.nccl / std::int64_t{beside.communicators}, Bytes(std::int64_t{576} << 20)) << "seen: 544 and 688 MB";
  EXPECT_EQ(memory_beside(on_a100s({}), {}).nccl, Bytes(0)) << "one rank talks to nobody";
}

TEST(MemoryBeside, FlowsOfAPipelineHaveOneEndEach) {
  const MemoryBeside beside = memory_beside(on_a100s({.pipeline = 4}), {});
  EXPECT_EQ(beside.nccl, Bytes((std::int64_t{12} << 20) * 24 * (2 * 2 + 2)));
  EXPECT_EQ(memory_beside(on_a100s({.pipeline = 2}), {}).flows, 2);
}

TEST(MemoryBeside, ThePoolGrowsWithWhatComesAndGoes) {
  MemoryBreakdown at_peak{};
  at_peak[static_cast<std::size_t>(MemoryCategory::Parameters)] = Bytes(1'000'000);
  EXPECT_EQ(memory_beside(on_a100s({}), at_peak).pool, Bytes(0));
  at_peak[static_cast<std::size_t>(MemoryCategory::Activations)] = Bytes(1'000'000);
  EXPECT_EQ(memory_beside(on_a100s({}), at_peak).pool, Bytes(50'000));
}

// FSDP 2 receives what it gathers in memory of another stream, which nothing else gets.
TEST(MemoryBeside, WhatIsGatheredLandsBesideItsUnit) {
  ParallelPlan plan = on_a100s({.data = 2});
  plan.zero_stage = 3;
  plan.cluster.software.own_memory = true;
  plan.cluster.software.fragmentation = 0;
  MemoryBreakdown at_peak{};
  at_peak[static_cast<std::size_t>(MemoryCategory::GatheredUnits)] = Bytes(1000);
  EXPECT_EQ(memory_beside(plan, at_peak).pool, Bytes(0));
  plan.cluster.software.stages_gathers = true;
  EXPECT_EQ(memory_beside(plan, at_peak).pool, Bytes(1000));
}

// Ends in fp32 land with four bytes a weight.
TEST(MemoryBeside, UnitsLandInTheTypeThatTheyAreIn) {
  ParallelPlan plan = on_a100s({.data = 4});
  plan.zero_stage = 3;
  plan.model.vocabulary = 5000;  // the largest units are the ends
  plan.model.tied_embeddings = false;
  plan.cluster.software.stages_gathers = plan.cluster.software.own_memory = true;
  plan.cluster.software.fragmentation = 0;
  MemoryBreakdown at_peak{};
  at_peak[static_cast<std::size_t>(MemoryCategory::GatheredUnits)] = Bytes(std::int64_t{1} << 40);
  const auto landing = [&](const PrecisionPolicy& precision) {
    plan.workload.precision = precision;
    return memory_beside(plan, at_peak).pool;
  };
  const PrecisionPolicy half(Precision::Bf16);
  EXPECT_EQ(landing(half.with_full(EndUnit::Embedding).with_full(EndUnit::Head)), landing(half) * std::int64_t{2});
}

// What gradients will need is in the pool before they come; those of frozen weights do not come.
TEST(MemoryBeside, FrozenWeightsWaitForNoGradients) {
  ParallelPlan plan = on_a100s({.data = 2});
  plan.zero_stage = 3;
  plan.cluster.software.own_memory = plan.cluster.software.unit_buffers = true;
  MemoryBreakdown at_peak{};
  at_peak[static_cast<std::size_t>(MemoryCategory::Parameters)] = Bytes(1'000'000);
  EXPECT_EQ(memory_beside(plan, at_peak).pool, Bytes(1'000'000));
  plan.model.adapters = Adapters{}.on(AdapterTarget::Query);
  EXPECT_EQ(memory_beside(plan, at_peak).pool, Bytes(0));
  at_peak[static_cast<std::size_t>(MemoryCategory::OptimizerState)] =
      optimizer_bytes_per_element(plan.workload, habits_of(plan.cluster)) * std::int64_t{1000};
  EXPECT_EQ(memory_beside(plan, at_peak).pool, plan.bytes(Numbers::Weights) * std::int64_t{1000});
}

TEST(MemoryBeside, ACpuHasNeither) {
  ParallelPlan plan = on_a100s({.data = 4});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  MemoryBreakdown at_peak{};
  at_peak.fill(Bytes(1'000'000));
  EXPECT_EQ(memory_beside(plan, at_peak).nccl + memory_beside(plan, at_peak).pool, Bytes(0));
}

}  // namespace
}  // namespace sim
