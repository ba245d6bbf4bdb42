#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

auto broken(const std::string& where, const std::string& words) {
  return Contains(AllOf(Field(&Violation::where, where), Field(&Violation::problem, HasSubstr(words))));
}

TEST(Violations, NoneInASoundPlan) {
  EXPECT_THAT(violations(testing::tiny_plan()), IsEmpty());
  EXPECT_THAT(violations(testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2})), IsEmpty());
}

TEST(Violations, DegreesMustMultiplyToTheDevices) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.cluster.devices = 4;
  EXPECT_THAT(violations(plan), broken("/mesh", "= 2 ranks, but the cluster has 4 devices"));
}

TEST(Violations, HeadsMustDivideByTensorDegree) {
  EXPECT_THAT(violations(testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 3})), broken("/mesh/tensor", "4 attention heads are not divisible by tensor degree 3"));
}

TEST(Violations, AllAreReportedAtOnce) {
  ParallelPlan plan = testing::tiny_plan({.data = 3, .pipeline = 1, .tensor = 3});
  plan.zero_stage = 7;
  EXPECT_THAT(violations(plan), SizeIs(::testing::Ge(4u)));   // batch, heads, kv heads, ffn, vocabulary, stage
}

TEST(Violations, ReplicasCutTheDataRanks) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1, .replicas = 2});
  EXPECT_THAT(violations(plan), IsEmpty());
  for (const std::int32_t replicas : {0, 3, 4}) {
    plan.mesh.replicas = replicas;
    EXPECT_THAT(violations(plan), broken("/mesh/replicas", "do not cut 4 data ranks"));
  }
}

TEST(Violations, WiderGradientsNeedSixteenBits) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.fp32_gradients = true;
  EXPECT_THAT(violations(plan), broken("/workload/fp32_gradients", "already"));
}

TEST(Violations, BatchMustDivide) {
  EXPECT_THAT(violations(testing::tiny_plan({.data = 3, .pipeline = 1, .tensor = 1})), broken("/microbatch_size", "global batch 8 is not divisible"));
}

TEST(Violations, CutMustCoverTheLayers) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cut.first = {LayerIndex(1), LayerIndex(3)};
  EXPECT_THAT(violations(plan), broken("/cut", "must start with layer 0"));
}

TEST(Violations, UnknownScheduleNamesTheKnownOnes) {
  ParallelPlan plan = testing::tiny_plan();
  plan.schedule = "dualpipe";
  ASSERT_THAT(violations(plan), broken("/schedule", "dualpipe"));
  EXPECT_THAT(violations(plan).front().remedy, HasSubstr("interleaved"));
}

TEST(Violations, HardwareMustHaveThePrecision) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  EXPECT_THAT(violations(plan), broken("/workload/precision", "has no bf16 rate"));
}

}  // namespace
}  // namespace sim
