// Moments of AdamW in fewer bits, against the same rounding in one process, and against AdamW with moments as wide as its masters.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kStatesSteps = 4, kLongTraining = 200;
constexpr Tolerance kSameMoments{1e-10};
constexpr double kNarrowBand = 0.05;  // of the loss after many steps

sim::ParallelPlan in_eight_bits(sim::ParallelPlan plan) {
  plan.workload.optimizer = sim::OptimizerKind::AdamW8bit;
  return plan;
}
sim::ParallelPlan in_bf16(sim::ParallelPlan plan) {
  plan.workload.precision = plan.workload.precision.with(sim::Numbers::Moments, sim::Precision::Bf16);
  return plan;
}

struct Kept {
  const char* name;
  sim::ParallelPlan (*in)(sim::ParallelPlan);
};
class States : public testing::TestWithParam<Kept> {
 protected:
  void SetUp() override {
    if (num_ranks() != 2 && num_ranks() != 4) GTEST_SKIP() << "needs 2 or 4 ranks";
  }
  static sim::ParallelPlan plan_on(sim::DeviceMesh mesh, sim::Precision precision = sim::Precision::Fp32) {
    return GetParam().in(with_precision(tiny_plan(tiny_llama(), mesh), precision));
  }
};

void expect_equal_states(const TrainingResult& a, const TrainingResult& b, const std::string& what) {
  EXPECT_EQ(bitwise_difference(a.weights, b.weights, what), "");
  EXPECT_EQ(bitwise_difference(a.moments, b.moments, what + ", moments"), "");
}

// Sums of ranks differ from those of one process in the last bits of fp64 alone; what they are rounded to does not differ.
TEST_P(States, AreThoseOfOneProcess) {
  const int ranks = num_ranks();
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.data = ranks}, sim::DeviceMesh{.data = ranks / 2, .pipeline = 2}}) {
    const sim::ParallelPlan plan = plan_on(mesh, sim::Precision::Fp64);
    const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kStatesSteps, .ranks = Ranks::Alone});
    for (const std::int32_t stage : {0, 1, 2, 3}) {
      if (stage > 0 && mesh.data == 1) continue;
      const TrainingResult here = train({.plan = with_zero(plan, stage), .steps = kStatesSteps});
      EXPECT_EQ(difference(here, alone, kSameMoments), "") << "zero" << stage;
      EXPECT_EQ(bitwise_difference(here.moments, alone.moments, "moments"), "") << "zero" << stage;
    }
  }
}

TEST_P(States, AreBitwiseEqualUnderZero) {
  const sim::ParallelPlan plan = plan_on({.data = num_ranks()});
  const TrainingResult ddp = train({.plan = plan, .steps = kStatesSteps});
  for (const std::int32_t stage : {1, 2, 3}) {
    const TrainingResult zero = train({.plan = with_zero(plan, stage), .steps = kStatesSteps});
    EXPECT_EQ(bitwise_difference(zero, ddp), "") << "zero" << stage;
    EXPECT_EQ(bitwise_difference(zero.moments, ddp.moments, "moments"), "") << "zero" << stage;
  }
}

TEST_P(States, StayInTheBandOfWideMoments) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  sim::ParallelPlan wide = with_zero(tiny_plan(tiny_llama(), {.data = 2}), 2);
  wide.microbatch_size = wide.workload.global_batch / 2;
  const auto losses_of = [](const sim::ParallelPlan& plan) {
    return train({.plan = plan, .steps = kLongTraining, .assembles_gradients = false});
  };
  const TrainingResult narrow = losses_of(GetParam().in(wide)), judge = losses_of(wide);
  EXPECT_NE(bitwise_difference(narrow.weights, judge.weights, "weights"), "") << "nothing was rounded";
  EXPECT_LT(judge.losses.back(), judge.losses.front());
  double most = 0;
  for (std::size_t step = 0; step < judge.losses.size(); ++step)
    most = std::max(most, std::abs(narrow.losses[step] / judge.losses[step] - 1));
  RecordProperty("farthest", std::to_string(most));
  EXPECT_LT(most, kNarrowBand);
}

TEST_P(States, GoOnFromACheckpointWithEveryBit) {
  for (const std::int32_t stage : {0, 1, 3}) {
    const ScratchOfJob scratch;
    const sim::ParallelPlan plan = with_zero(plan_on({.data = num_ranks()}), stage);
    const TrainingResult whole = train({.plan = plan, .steps = 4});
    train({.plan = plan, .steps = 2, .save_to = scratch.folder("a")});
    expect_equal_states(train({.plan = plan, .steps = 2, .load_from = scratch.folder("a")}), whole, "gone on");
  }
}

TEST_P(States, MoveToAnotherLayout) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const ScratchOfJob scratch;
  const sim::ParallelPlan here = with_zero(plan_on({.data = 2}), 3), there = plan_on({.pipeline = 2});
  const TrainingResult first = train({.plan = here, .steps = 2, .save_to = scratch.folder("a")});
  expect_equal_states(train({.plan = there, .steps = 0, .load_from = scratch.folder("a"), .save_to = scratch.folder("b")}), first, "moved");
  expect_equal_states(train({.plan = here, .steps = 0, .load_from = scratch.folder("b")}), first, "and back");
  const sim::ParallelPlan cut = plan_on({.tensor = 2});  // other blocks of 8-bit codes
  const TrainingResult stayed = train({.plan = here, .steps = 2, .load_from = scratch.folder("a")}),
                       moved = train({.plan = cut, .steps = 2, .load_from = scratch.folder("a")});
  EXPECT_LT(distance(moved, stayed).loss, 1e-3);
  EXPECT_LT(distance(moved, stayed).weights, 0.1);  // seen: 0.04
}

INSTANTIATE_TEST_SUITE_P(Moments, States, testing::Values(Kept{"Bf16", in_bf16}, Kept{"EightBits", in_eight_bits}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace parity
