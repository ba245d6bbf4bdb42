// What crosses links encoded or rounded, against the same in one process: fp64, relative L2 <= 1e-10 of every gradient and weight over 50 steps.
#include <gtest/gtest.h>

#include "tests/parity/encoded_training.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"

namespace parity {
namespace {

constexpr std::int64_t kManySteps = 50;
constexpr Tolerance kAsClose{1e-10};

sim::ParallelPlan encoded(sim::DeviceMesh mesh, std::int32_t stage, const std::string& codecs) {
  sim::ParallelPlan plan = with_zero(tiny_plan(tiny_llama(), mesh), stage);
  std::vector<sim::Violation> wrong;
  plan.workload.precision = sim::parse_precision_policy("fp64 " + codecs, wrong);
  EXPECT_TRUE(wrong.empty());
  plan.workload.optimizer = sim::OptimizerKind::Sgd;
  plan.training.learning_rate = plan.training.minimum_learning_rate = 0.02;
  plan.training.momentum = 0.9;
  plan.training.gradient_clip = 0;
  return plan;
}

void expect_as_in_one_process(const sim::ParallelPlan& plan) {
  if (num_ranks() != plan.mesh.ranks()) return;
  SCOPED_TRACE(sim::to_text(plan.workload.precision) + " zero" + std::to_string(plan.zero_stage));
  const TrainingResult here = train({.plan = plan, .steps = kManySteps}), judge = train_encoded(plan, kManySteps);
  EXPECT_EQ(difference(here, judge, kAsClose), "");
  EXPECT_LT(here.losses.back(), here.losses.front());
  sim::ParallelPlan plain = plan;
  plain.workload.precision = plan.workload.precision.as_it_follows();
  EXPECT_GT(distance(train({.plan = plain, .steps = 2}), train({.plan = plan, .steps = 2})).gradients, 1e-4)
      << "nothing was lost on the way";
}

class Encoded : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (num_ranks() != GetParam()) GTEST_SKIP() << "needs " << GetParam() << " ranks";
  }
};

TEST_P(Encoded, MatricesOfLowRankAgreeWithOneProcess) {
  sim::ParallelPlan plan = encoded({.data = GetParam()}, 0, "wire=powersgd:2");
  expect_as_in_one_process(plan);
  plan.accumulation = sim::Accumulation::ReduceEach;
  plan.bucket_size = sim::Bytes(16384);
  plan.first_bucket_size = sim::Bytes(4096);
  expect_as_in_one_process(plan);
}

// Error and Q go on from a checkpoint, to the bit. Planted: under other buckets they begin anew.
TEST_P(Encoded, AResumedRunOfLowRankHasTheSameBits) {
  const ScratchOfJob scratch;
  const sim::ParallelPlan plan = encoded({.data = GetParam()}, 0, "wire=powersgd:2");
  const TrainingResult stayed = train({.plan = plan, .steps = 4});
  train({.plan = plan, .steps = 2, .save_to = scratch.folder("kept")});
  const TrainingResult resumed = train({.plan = plan, .steps = 2, .load_from = scratch.folder("kept")});
  EXPECT_EQ(bitwise_difference(resumed.weights, stayed.weights, "weights"), "");
  EXPECT_EQ(bitwise_difference(resumed.moments, stayed.moments, "moments"), "");
  sim::ParallelPlan other = plan;
  other.bucket_size = sim::Bytes(16384);
  const TrainingResult anew = train({.plan = other, .steps = 2, .load_from = scratch.folder("kept")});
  EXPECT_NE(difference(anew, resumed, kAsClose), "");
}

TEST_P(Encoded, BlocksAgreeWithOneProcess) {
  expect_as_in_one_process(encoded({.data = GetParam()}, 1, "wire=int8"));
  expect_as_in_one_process(encoded({.data = GetParam()}, 3, "wire=fp8"));
  sim::ParallelPlan plan = encoded({.data = GetParam()}, 2, "wire=int4");
  plan.accumulation = sim::Accumulation::ReduceEach;
  expect_as_in_one_process(plan);
}

// DDP's hook bf16_compress, and a reduce type of its own of sharded gradients.
TEST_P(Encoded, SumsInSixteenBitsAgreeWithOneProcess) {
  sim::ParallelPlan plan = encoded({.data = GetParam()}, 0, "wire=bf16");
  plan.accumulation = sim::Accumulation::ReduceEach;
  plan.first_bucket_size = sim::Bytes(4096);
  expect_as_in_one_process(plan);
  expect_as_in_one_process(encoded({.data = GetParam()}, 3, "wire=fp16"));
}

TEST_P(Encoded, GatheredWeightsAgreeWithOneProcess) {
  expect_as_in_one_process(encoded({.data = GetParam()}, 3, "gathers=int8"));
  expect_as_in_one_process(encoded({.data = GetParam()}, 3, "gathers=int8 wire=int4"));
}

TEST_P(Encoded, NeighboursFirstAgreesWithOneProcess) {
  if (GetParam() < 4) GTEST_SKIP() << "two neighbourhoods of two";
  expect_as_in_one_process(encoded({.data = GetParam(), .reshard = 2}, 3, "gathers=int8 wire=int4"));
  expect_as_in_one_process(encoded({.data = GetParam(), .reshard = 2}, 2, "wire=int4"));
}

INSTANTIATE_TEST_SUITE_P(Wire, Encoded, testing::Values(2, 4), testing::PrintToStringParamName());

}  // namespace
}  // namespace parity
