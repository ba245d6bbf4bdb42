#include <gmock/gmock.h>

#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::IsEmpty;

ParallelPlan in_backward(DeviceMesh mesh) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.workload.global_batch = mesh.data * plan.microbatch_size;
  plan.training.gradient_clip = 0;
  plan.optimizer_in_backward = true;
  return plan;
}

TEST(StepsInBackward, StandWhereEachRankStepsAllThatItHasOfAUnit) {
  EXPECT_THAT(violations(in_backward({})), IsEmpty());
  EXPECT_THAT(violations(in_backward({.data = 4})), IsEmpty());
  ParallelPlan sharded = in_backward({.data = 4, .replicas = 2});
  sharded.zero_stage = 3;
  EXPECT_THAT(violations(sharded), IsEmpty());
}

TEST(StepsInBackward, WaitForNothingElse) {
  constexpr const char* kWhere = "/optimizer_in_backward";
  const auto with = [](const auto& change, DeviceMesh mesh = {.data = 4}) {
    ParallelPlan plan = in_backward(mesh);
    change(plan);
    return violations(plan);
  };
  const auto nothing = [](ParallelPlan&) {};
  EXPECT_THAT(with([](ParallelPlan& p) { p.workload.global_batch *= 2; }), broken(kWhere, "2 backwards of a step"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.training.gradient_clip = 1; }), broken(kWhere, "clipping to 1"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.workload.precision = Precision::Fp16; }), broken(kWhere, "an infinity in another one"));
  for (const std::int32_t stage : {1, 2})
    EXPECT_THAT(with([&](ParallelPlan& p) { p.zero_stage = stage; }), broken(kWhere, "gathers what others have stepped"));
  EXPECT_THAT(with(nothing, {.data = 2, .tensor = 2}), broken(kWhere, "data and context ranks alone"));
  EXPECT_THAT(with(nothing, {.data = 2, .pipeline = 2}), broken(kWhere, "data and context ranks alone"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.offload_optimizer = true; }), broken(kWhere, "on the host"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.partition_size = p.credit_size = Bytes(1 << 20); }),
              broken(kWhere, "put off into the next one"));
  EXPECT_THAT(with([](ParallelPlan& p) {
                p.workload.precision = p.workload.precision.with_gradient_codec({Codec::PowerSgd, 2});
              }),
              broken(kWhere, "codecs"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.zero_stage = 3, p.persistence_threshold = 100; }), broken(kWhere, "small parameters"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.zero_stage = 3; }, {.data = 4, .reshard = 2}), broken(kWhere, "2 neighbours"));
}

TEST(StepsInBackward, AreOfCpuRanksInTheWorker) {
  ParallelPlan plan = in_backward({.data = 2});
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_THAT(why_not_runnable(plan), IsEmpty());
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_THAT(why_not_runnable(plan), broken("/optimizer_in_backward", "on CPU ranks alone"));
}

}  // namespace
}  // namespace sim
