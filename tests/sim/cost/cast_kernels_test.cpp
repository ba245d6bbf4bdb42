#include "sim/cost/cast_kernels.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

ParallelPlan wide_plan() {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(WideKind::Stream, Precision::Fp32);
  return plan;
}

std::int64_t bytes_beside(const ParallelPlan& plan, const Operator& op, Pass pass) {
  std::int64_t bytes = 0;
  for (const KernelCall& call : beside_stream(op, 100, plan, pass)) bytes += 2 * call.shape[0];
  return bytes;
}

// Of fp32 beside 16 bit: a cast reads 4 and writes 2, a sum reads and writes 2 more each; backward it reads two and writes one, and casts what goes into the half.
TEST(CastKernels, AWideStreamIsCastInFrontOfNormsAndSummedWide) {
  const ParallelPlan plan = wide_plan();
  const Operator norm{.kind = OperatorKind::Norm, .name = "norm"}, sum{.kind = OperatorKind::Residual, .name = "residual"};
  EXPECT_EQ(bytes_beside(plan, norm, Pass::Forward), 100 * 6);
  EXPECT_EQ(bytes_beside(plan, norm, Pass::Backward), 100 * 6);
  EXPECT_EQ(bytes_beside(plan, sum, Pass::Forward), 100 * 4);
  EXPECT_EQ(bytes_beside(plan, sum, Pass::Backward), 100 * (6 + 6));
  EXPECT_EQ(bytes_beside(plan, {.kind = OperatorKind::Norm, .name = "qk_norm"}, Pass::Forward), 0) << "reads what the block has made";
  EXPECT_EQ(bytes_beside(plan, {.kind = OperatorKind::Rotary, .name = "rotary"}, Pass::Forward), 0);
}

TEST(CastKernels, NoStreamIsWidenedTwice) {
  const Operator sum{.kind = OperatorKind::Residual, .name = "residual"};
  ParallelPlan plan = wide_plan();
  plan.cluster.software.autocast = true;
  EXPECT_THAT(beside_stream(sum, 100, plan, Pass::Forward), IsEmpty()) << "it is wide by itself";
  plan.cluster.software.compiled = true;
  EXPECT_THAT(beside_stream(sum, 100, plan, Pass::Forward), SizeIs(1));
  plan.workload.precision = Precision::Bf16;
  EXPECT_THAT(beside_stream(sum, 100, plan, Pass::Forward), IsEmpty());
}

// 2 bytes of a number more are written and read, and 4 are read for the 2 that products read; any norm.
TEST(CastKernels, WhatWideNormsPutOutIsCast) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = PrecisionPolicy(Precision::Bf16);
  const Operator norm{.kind = OperatorKind::Norm, .name = "qk_norm"}, sum{.kind = OperatorKind::Residual, .name = "residual"};
  EXPECT_THAT(beside_norm(norm, 100, plan), IsEmpty());
  plan.workload.precision = plan.workload.precision.with(WideKind::Norms, Precision::Fp32);
  EXPECT_THAT(beside_norm(sum, 100, plan), IsEmpty());
  ASSERT_THAT(beside_norm(norm, 100, plan), SizeIs(1));
  EXPECT_EQ(2 * beside_norm(norm, 100, plan).front().shape[0], 100 * (2 + 6));
}

// Under autocast adapters leave the stream in 16 bit: where the plan widens it, that is not priced with its operators.
TEST(CastKernels, AdaptersUnderAutocastHaveAStreamOfTheirPlan) {
  const Operator sum{.kind = OperatorKind::Residual, .name = "residual"};
  ParallelPlan plan = wide_plan();
  plan.cluster.software.autocast = true;
  EXPECT_TRUE(is_autocast(plan));
  plan.model.adapters = Adapters{.rank = 8}.on(AdapterTarget::Query);
  EXPECT_FALSE(is_autocast(plan));
  EXPECT_THAT(beside_stream(sum, 100, plan, Pass::Forward), SizeIs(1));
}

TEST(CastKernels, ScoresOfFp64AreTwiceAsWide) {
  ParallelPlan plan = wide_plan();
  EXPECT_EQ(width_of_scores(plan), 1);
  plan.workload.precision = plan.workload.precision.with(WideKind::Routers, Precision::Fp32);
  EXPECT_EQ(width_of_scores(plan), 1);
  plan.workload.precision = plan.workload.precision.with(WideKind::Routers, Precision::Fp64);
  EXPECT_EQ(width_of_scores(plan), 2);
}

TEST(CastKernels, UnpackingIsAnOperatorForEachStep) { EXPECT_THAT(unpacking(1'000), SizeIs(5)); }

}  // namespace
}  // namespace sim
