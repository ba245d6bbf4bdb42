#include "sim/cost/memory_counter.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

TEST(MemoryCounter, EachCountsWhatTheOneBeforeDoesAndMore) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.cluster.software.own_memory = true;
  plan.cluster.software.context_gib = 1.5;
  plan.cluster.software.workspace_gib = 0.5;
  MemoryBreakdown at_peak{};
  at_peak[static_cast<std::size_t>(MemoryCategory::Parameters)] = Bytes(1000);
  at_peak[static_cast<std::size_t>(MemoryCategory::Activations)] = Bytes(500);
  constexpr Bytes kHalfGib{std::int64_t{1} << 29};
  EXPECT_EQ(counted(MemoryCounter::Allocated, plan, at_peak, Bytes(50)), Bytes(1500) + kHalfGib);
  EXPECT_EQ(counted(MemoryCounter::Reserved, plan, at_peak, Bytes(50)), Bytes(1550) + kHalfGib) << "what the allocator holds besides";
  EXPECT_EQ(counted(MemoryCounter::Device, plan, at_peak, Bytes(50)), Bytes(1550) + kHalfGib * std::int64_t{4});
}

// One for all products, and one for each stream of experts' products; as large as the part's library has them.
TEST(MemoryCounter, WorkspacesAreOfThePartAndTheProgram) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kernels.emplace().product_workspace = Bytes(std::int64_t{32} << 20);
  plan.cluster.software.own_memory = true;
  plan.cluster.software.product_workspaces = 1, plan.cluster.software.expert_workspaces = 4;
  EXPECT_EQ(counted(MemoryCounter::Allocated, plan, {}, {}), Bytes(std::int64_t{32} << 20));
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  EXPECT_EQ(counted(MemoryCounter::Allocated, plan, {}, {}), Bytes(std::int64_t{5 * 32} << 20));
  plan.cluster.hardware.kernels = KernelTraits{};
  EXPECT_EQ(counted(MemoryCounter::Allocated, plan, {}, {}), Bytes(std::int64_t{5 * 4} << 20));
}

}  // namespace
}  // namespace sim
