#include "sim/cost/library_workspaces.h"

#include <gtest/gtest.h>

#include "sim/cost/memory_beside.h"
#include "sim/cost/resident_memory.h"
#include "sim/units/at.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

constexpr Bytes kMiB{std::int64_t{1} << 20}, kHopper = kMiB * std::int64_t{32};

ParallelPlan on_hopper(DeviceMesh mesh = {}) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.cluster.hardware.handle_workspace = kHopper;
  plan.model.attention_bias = plan.model.projection_bias = plan.model.mlp_bias = false;
  return plan;
}

PrecisionPolicy precision(const char* text) {
  std::vector<Violation> none;
  return parse_precision_policy(text, none);
}

// LibTorch 2.11 gave as much to a forward and a backward of one product where compute capability 9.0 was told, and 8,320 KiB each at 8.0, 10.0 and 12.0.
TEST(LibraryWorkspaces, ForwardAndBackwardHaveOneEach) {
  EXPECT_EQ(library_workspaces(on_hopper()), kHopper * std::int64_t{2});
  ParallelPlan other = on_hopper();
  other.cluster.hardware.handle_workspace = HardwareProfile{}.handle_workspace;
  EXPECT_EQ(library_workspaces(other), Bytes(2 * 8'519'680));
}

TEST(LibraryWorkspaces, CpusAndOtherProgramsHaveNone) {
  ParallelPlan plan = on_hopper();
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_EQ(library_workspaces(plan), Bytes(0));
  plan = on_hopper();
  plan.cluster.software.own_memory = true;
  EXPECT_EQ(library_workspaces(plan), Bytes(0)) << "what they hold their profile says";
}

// One of a megabyte beside the handle's: of the thread that adds biases inside products, of both where products have scales.
TEST(LibraryWorkspaces, WhatAsksForMoreThanAProductHasOneBeside) {
  ParallelPlan plan = on_hopper();
  plan.model.mlp_bias = true;
  EXPECT_EQ(library_workspaces(plan), kHopper * std::int64_t{2} + kMiB);
  plan = on_hopper();
  plan.workload.precision = precision("fp8:tensorwise");
  EXPECT_EQ(library_workspaces(plan), kHopper * std::int64_t{2} + kMiB * std::int64_t{2});
}

TEST(LibraryWorkspaces, AnotherStreamThatMultipliesHasItsOwn) {
  ParallelPlan plan = on_hopper({.data = 2});
  plan.workload.precision = precision("bf16 wire=powersgd:4");
  EXPECT_EQ(library_workspaces(plan), kHopper * std::int64_t{3});
  plan.mesh.data = 1;
  EXPECT_EQ(library_workspaces(plan), kHopper * std::int64_t{2}) << "nothing crosses a link";
}

TEST(LibraryWorkspaces, AreThereAllTheStep) {
  MemoryBreakdown memory{};
  add_step_data(memory, on_hopper(), StageIndex(0));
  EXPECT_EQ(sim::at(memory, MemoryCategory::Temporaries), library_workspaces(on_hopper()));
  MemoryBreakdown without = memory;
  sim::at(without, MemoryCategory::Temporaries) = {};
  EXPECT_EQ(memory_beside(on_hopper(), memory).pool, memory_beside(on_hopper(), without).pool) << "they do not come and go";
}

TEST(LibraryWorkspaces, AnEmbeddingAloneMultipliesNothing) {
  ParallelPlan plan = on_hopper({.pipeline = 2});
  EXPECT_EQ(library_workspaces(plan, StageIndex(0)), library_workspaces(plan));
  plan.cut.first = {LayerIndex(0), LayerIndex(1)};
  EXPECT_EQ(library_workspaces(plan, StageIndex(0)), Bytes(0));
  EXPECT_EQ(library_workspaces(plan, StageIndex(1)), library_workspaces(plan));
}

}  // namespace
}  // namespace sim
