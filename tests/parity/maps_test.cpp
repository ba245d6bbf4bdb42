// Convolutional networks on data ranks: beside what compositions hold, what goes on behind a step.
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "executor/launch/rank_environment.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

class Maps : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
    if (!device().is_cpu()) GTEST_SKIP() << "of CPU ranks";
  }
  const sim::ParallelPlan plan_ = tiny_plan(tiny_resnet(), {.data = 2});
};

// Weights, moments and running statistics.
TEST_F(Maps, AResumedRunHasEveryBit) {
  const ScratchOfJob scratch;
  for (const std::int32_t stage : {0, 3}) {
    const sim::ParallelPlan plan = with_zero(plan_, stage);
    const std::string folder = scratch.folder("zero" + std::to_string(stage));
    train({.plan = plan, .steps = 2, .save_to = folder});
    const TrainingResult resumed = train({.plan = plan, .steps = 2, .load_from = folder}), whole = train({.plan = plan, .steps = 4});
    EXPECT_TRUE(whole.weights.contains("running_mean:layers.1.1.weight"));
    EXPECT_EQ(bitwise_difference(resumed.weights, whole.weights, "weights"), "") << "zero" << stage;
    EXPECT_EQ(bitwise_difference(resumed.moments, whole.moments, "moments"), "") << "zero" << stage;
  }
}

// Saved by two ranks, gone on by one.
TEST_F(Maps, ItGoesOnUnderAnotherLayout) {
  const ScratchOfJob scratch;
  const sim::ParallelPlan plan = with_precision(plan_, sim::Precision::Fp64);
  train({.plan = plan, .steps = 2, .save_to = scratch.folder("two")});
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 2, .ranks = Ranks::Alone, .load_from = scratch.folder("two")});
  const TrainingResult together = train({.plan = plan, .steps = 2, .load_from = scratch.folder("two")});
  EXPECT_EQ(difference(together, alone, {1e-10}), "");
}

// Each follows its own samples; as PyTorch DDP's, the first rank's are gone on with.
TEST_F(Maps, TheFirstRanksStatisticsAreGoneOnWith) {
  const ScratchOfJob scratch;
  sim::ParallelPlan plan = plan_;
  plan.sync_batch_norm = false;
  const TrainingResult own = train({.plan = plan, .steps = 2, .save_to = scratch.folder("own")});
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 0, .ranks = Ranks::Alone, .load_from = scratch.folder("own")});
  const std::string name = "running_mean:layers.1.1.weight";
  EXPECT_EQ(at::equal(alone.weights.at(name), own.weights.at(name)), executor::read_rank_environment().rank == sim::Rank(0));
}

TEST_F(Maps, BucketsOfAnySizeHaveEveryBit) {
  sim::ParallelPlan small = plan_;
  small.bucket_size = sim::Bytes(1024);
  EXPECT_EQ(bitwise_difference(train({.plan = small, .steps = 3}), train({.plan = plan_, .steps = 3})), "");
}

// Each microbatch is a batch of its own to norm.
TEST_F(Maps, MicrobatchesAreSummedBeforeRanksOrBehindThem) {
  sim::ParallelPlan last = with_precision(plan_, sim::Precision::Fp64);
  last.microbatch_size = 2;
  sim::ParallelPlan each = last;
  each.accumulation = sim::Accumulation::ReduceEach;
  const TrainingResult result = train({.plan = last, .steps = 3});
  EXPECT_EQ(difference(train({.plan = each, .steps = 3}), result, {1e-10}), "");
  EXPECT_NE(difference(train({.plan = with_precision(plan_, sim::Precision::Fp64), .steps = 3}), result, {1e-10}), "");
}

}  // namespace
}  // namespace parity
