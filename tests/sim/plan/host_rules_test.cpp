#include <gmock/gmock.h>

#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::IsEmpty;

TEST(HostRules, InputsOfModulesAreOfBlocksThatAreTrainedWhole) {
  constexpr const char* kWhere = "/offload_modules";
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.offload_modules = Module::QkvProduct;
  EXPECT_THAT(violations(plan), IsEmpty());
  const auto with = [&](const auto& change) {
    ParallelPlan changed = plan;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([](ParallelPlan& p) { p.recompute = Recompute::Full; }), broken(kWhere, "with recompute full blocks keep their inputs"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.offload_modules = Module::AttentionProjection; }),
              broken(kWhere, "core_attn keeps it on the device"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.offload_modules = Module::AttentionProjection | Module::CoreAttention; }), IsEmpty());
  EXPECT_THAT(with([](ParallelPlan& p) { p.offload_least = -1; }), broken(kWhere, "tensors of -1 elements"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.zero_stage = 3; }), broken(kWhere, "units of stage 3"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.offload_blocks = -1; }), broken(kWhere, "is of -1 blocks"));
  EXPECT_THAT(with([](ParallelPlan& p) {
                p.offload_modules = p.recompute_scope.modules = Module::Mlp;
                p.recompute = Recompute::Selective;
              }),
              broken(kWhere, "sends what mlp keeps to the host, and recomputes it"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.slices = 2; }), broken(kWhere, "slices of a sample"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.parallel_blocks = true; }), broken(kWhere, "a norm in front of each half"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.model.frozen.first = 1; }), broken(kWhere, "trained whole"));
}

// What both words that wait for a backward break, alone.
TEST(HostRules, OfResidencyAlone) {
  ParallelPlan plan = testing::tiny_plan();
  plan.zero_stage = 7;
  EXPECT_THAT(residency_violations(plan), IsEmpty());
  plan.delay_head_wgrad = 1;
  EXPECT_THAT(residency_violations(plan), broken("/delay_head_wgrad", "there is one stage"));
}

TEST(HostRules, TheWorkerSendsFromCpuRanksThatShareNoSample) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.offload_modules = Module::QkvProduct;
  plan.delay_head_wgrad = 1;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.offload_blocks = 1;
  EXPECT_THAT(why_not_runnable(plan), broken("/offload_blocks", "of all blocks"));
  plan.offload_blocks = 0;
  plan.offload_modules = Module::Mlp;
  EXPECT_THAT(why_not_runnable(plan), broken("/offload_modules", "what attention and experts have saved"));
  plan.offload_modules = Module::QkvProduct;
  plan.mesh.context = 2;
  EXPECT_THAT(why_not_runnable(plan), broken("/offload_modules", "beside their exchange"));
  plan.mesh.context = 1;
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), broken("/offload_modules", "CPU ranks alone"));
}

}  // namespace
}  // namespace sim
