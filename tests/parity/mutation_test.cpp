// Each oracle can fail: a planted bug must be seen by the comparison that is there to see it.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

using executor::Mutation;
constexpr std::int64_t kFewSteps = 3;
constexpr sim::ContextAlgorithm kRing = sim::ContextAlgorithm::Ring, kAllGather = sim::ContextAlgorithm::AllGather,
                                kAllToAll = sim::ContextAlgorithm::AllToAll;

void expect_caught_bitwise(const sim::ParallelPlan& plan, Mutation mutation) {
  const TrainingResult right = train({.plan = plan, .steps = kFewSteps}),
                       wrong = train({.plan = plan, .steps = kFewSteps, .mutation = mutation});
  EXPECT_NE(bitwise_difference(wrong, right), "") << "a planted bug went unseen";
}

void expect_caught_in_fp64(const sim::ParallelPlan& fp32, Mutation mutation) {
  const sim::ParallelPlan plan = with_precision(fp32, sim::Precision::Fp64);
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kFewSteps, .ranks = Ranks::Alone});
  EXPECT_NE(difference(train({.plan = plan, .steps = kFewSteps, .mutation = mutation}), alone, {1e-10}), "") << "a planted bug went unseen";
}

class OnTwoRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  const sim::ParallelPlan data_ = tiny_plan(tiny_gpt2(), {.data = 2}), tensor_ = tiny_plan(tiny_gpt2(), {.tensor = 2}),
                          pipeline_ = tiny_plan(tiny_gpt2(), {.pipeline = 2}), sequence_ = with_sequence(tensor_);
  static sim::ParallelPlan context(sim::ContextAlgorithm algorithm) {
    sim::ParallelPlan plan = tiny_plan(tiny_gpt2(), {.context = 2});
    plan.model.attention_dropout = 0;
    plan.context_algorithm = algorithm;
    return plan;
  }

 private:
  static sim::ParallelPlan with_sequence(sim::ParallelPlan plan) {
    plan.sequence_parallel = true;
    return plan;
  }
};
using Mutations = OnTwoRanks;

TEST_F(Mutations, WrongAverage) {
  expect_caught_in_fp64(data_, Mutation::WrongAverage);
  expect_caught_in_fp64(pipeline_, Mutation::WrongAverage);
}
TEST_F(Mutations, DividedTwice) {
  expect_caught_in_fp64(data_, Mutation::DividedTwice);
  expect_caught_in_fp64(pipeline_, Mutation::DividedTwice);
}
TEST_F(Mutations, LocalVocabulary) { expect_caught_in_fp64(tensor_, Mutation::LocalVocabulary); }
TEST_F(Mutations, EarlyRead) {
  expect_caught_in_fp64(pipeline_, Mutation::EarlyRead);
  for (const std::int32_t stage : {1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), Mutation::EarlyRead);
  for (const auto algorithm : {kRing, kAllGather, kAllToAll}) expect_caught_in_fp64(context(algorithm), Mutation::EarlyRead);
}
TEST_F(Mutations, UnscaledMerge) {
  for (const auto algorithm : {kRing, kAllGather}) expect_caught_in_fp64(context(algorithm), Mutation::UnscaledMerge);
}
TEST_F(Mutations, FutureBlock) {
  for (const auto algorithm : {kRing, kAllGather}) expect_caught_in_fp64(context(algorithm), Mutation::FutureBlock);
}
TEST_F(Mutations, MissingTensorSum) {
  expect_caught_in_fp64(tensor_, Mutation::MissingTensorSum);
  expect_caught_in_fp64(sequence_, Mutation::MissingTensorSum);
}
TEST_F(Mutations, MissingReplicatedSum) {
  expect_caught_in_fp64(sequence_, Mutation::MissingReplicatedSum);
  expect_caught_in_fp64(tiny_plan(tiny_deepseek(), {.tensor = 2}), Mutation::MissingReplicatedSum);  // what leads down
}
TEST_F(Mutations, ForgottenWeights) { expect_caught_in_fp64(with_schedule(pipeline_, "zb-1p", 1), Mutation::ForgottenWeights); }
TEST_F(Mutations, ForgottenSum) { expect_caught_in_fp64(pipeline_, Mutation::ForgottenSum); }
TEST_F(Mutations, SwappedMicrobatches) {
  expect_caught_in_fp64(data_, Mutation::SwappedMicrobatches);
  expect_caught_in_fp64(pipeline_, Mutation::SwappedMicrobatches);
}
TEST_F(Mutations, LocalHeadMasks) { expect_caught_in_fp64(tensor_, Mutation::LocalHeadMasks); }
TEST_F(Mutations, OtherMasksAgain) {
  sim::ParallelPlan plan = tensor_;
  plan.recompute = sim::Recompute::Full;
  expect_caught_in_fp64(plan, Mutation::OtherMasksAgain);
}
sim::ParallelPlan in_units(sim::ParallelPlan plan) {
  plan.layers_per_unit = 2;
  return with_zero(plan, 3);
}

TEST_F(Mutations, ShiftedShard) {
  for (const std::int32_t stage : {0, 1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), Mutation::ShiftedShard);
}
TEST_F(Mutations, StaleWeights) {
  for (const std::int32_t stage : {1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), Mutation::StaleWeights);
  expect_caught_bitwise(in_units(data_), Mutation::StaleWeights);
}
TEST_F(Mutations, SharedCountedTwice) {
  expect_caught_in_fp64(tensor_, Mutation::SharedCountedTwice);
  expect_caught_in_fp64(pipeline_, Mutation::SharedCountedTwice);  // the tied embedding
}
TEST_F(Mutations, LastBucketNotReduced) {
  for (const std::int32_t stage : {0, 1, 2, 3}) expect_caught_bitwise(with_zero(data_, stage), Mutation::LastBucketNotReduced);
  expect_caught_bitwise(in_units(data_), Mutation::LastBucketNotReduced);
  expect_caught_in_fp64(pipeline_, Mutation::LastBucketNotReduced);  // the tied embedding's
}

TEST_F(Mutations, IgnoredChoice) { expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}), Mutation::IgnoredChoice); }
TEST_F(Mutations, StrayRows) { expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}), Mutation::StrayRows); }
TEST_F(Mutations, MissingSumOfRouters) { expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.tensor = 2}), Mutation::MissingReplicatedSum); }

TEST(ExpertMutations, WrongExpertGroup) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  expect_caught_in_fp64(tiny_plan(tiny_mixtral(), {.data = 4, .expert = 2}), Mutation::WrongExpertGroup);
}

TEST(ReplicaMutations, MissingReplicaSum) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  for (const std::int32_t stage : {0, 1, 2, 3})
    expect_caught_bitwise(with_zero(tiny_plan(tiny_gpt2(), {.data = 4, .replicas = 2}), stage), Mutation::MissingReplicaSum);
}

TEST(ReshardMutations, OtherPart) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  expect_caught_bitwise(with_zero(tiny_plan(tiny_gpt2(), {.data = 4, .reshard = 2}), 3), Mutation::OtherPart);
}

}  // namespace
}  // namespace parity
