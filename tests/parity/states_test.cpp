// Moments of AdamW in fewer bits, against the same rounding in one process, and against AdamW with moments as wide as its masters.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kFewSteps = 4, kManySteps = 200;
constexpr Tolerance kTolerance{1e-10};
constexpr double kBand = 0.05;  // of the loss after many steps

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

void expect_same_state(const TrainingResult& a, const TrainingResult& b, const std::string& what) {
  EXPECT_EQ(bitwise_difference(a.weights, b.weights, what), "");
  EXPECT_EQ(bitwise_difference(a.moments, b.moments, what + ", moments"), "");
}

// Sums of ranks differ from those of one process in the last bits of fp64 alone; what they are rounded to does not differ.
TEST_P(States, AreThoseOfOneProcess) {
  const int ranks = num_ranks();
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.data = ranks}, sim::DeviceMesh{.data = ranks / 2, .pipeline = 2}})
    for (const std::int32_t stage : {0, 1, 2, 3}) {
      if (stage > 0 && mesh.data == 1) continue;
      const sim::ParallelPlan plan = with_zero(plan_on(mesh, sim::Precision::Fp64), stage);
      const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kFewSteps, .ranks = Ranks::Alone}),
                           here = train({.plan = plan, .steps = kFewSteps});
      EXPECT_EQ(difference(here, alone, kTolerance), "") << "zero" << stage;
      EXPECT_EQ(bitwise_difference(here.moments, alone.moments, "moments"), "") << "zero" << stage;
    }
}

TEST_P(States, AreBitwiseEqualUnderZero) {
  const sim::ParallelPlan plan = plan_on({.data = num_ranks()});
  const TrainingResult ddp = train({.plan = plan, .steps = kFewSteps});
  for (const std::int32_t stage : {1, 2, 3}) {
    const TrainingResult zero = train({.plan = with_zero(plan, stage), .steps = kFewSteps});
    EXPECT_EQ(bitwise_difference(zero, ddp), "") << "zero" << stage;
    EXPECT_EQ(bitwise_difference(zero.moments, ddp.moments, "moments"), "") << "zero" << stage;
  }
}

TEST_P(States, StayInTheBandOfWideMoments) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const sim::ParallelPlan plan = with_zero(plan_on({.data = 2}), 2), wide = with_zero(tiny_plan(tiny_llama(), {.data = 2}), 2);
  const TrainingResult narrow = train({.plan = plan, .steps = kManySteps}), judge = train({.plan = wide, .steps = kManySteps});
  EXPECT_NE(bitwise_difference(narrow.weights, judge.weights, "weights"), "") << "nothing was rounded";
  EXPECT_LT(judge.losses.back(), judge.losses.front());
  double most = 0;
  for (std::size_t step = 0; step < judge.losses.size(); ++step)
    most = std::max(most, std::abs(narrow.losses[step] / judge.losses[step] - 1));
  RecordProperty("farthest", std::to_string(most));
  EXPECT_LT(most, kBand);
}

TEST_P(States, GoOnFromACheckpointWithEveryBit) {
  for (const std::int32_t stage : {0, 1, 3}) {
    const ScratchOfJob scratch;
    const sim::ParallelPlan plan = with_zero(plan_on({.data = num_ranks()}), stage);
    const TrainingResult whole = train({.plan = plan, .steps = 4});
    train({.plan = plan, .steps = 2, .save_to = scratch.folder("a")});
    expect_same_state(train({.plan = plan, .steps = 2, .load_from = scratch.folder("a")}), whole, "gone on");
  }
}

TEST_P(States, MoveToAnotherLayout) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const ScratchOfJob scratch;
  const sim::ParallelPlan here = with_zero(plan_on({.data = 2}), 3), there = plan_on({.pipeline = 2});
  const TrainingResult first = train({.plan = here, .steps = 2, .save_to = scratch.folder("a")});
  expect_same_state(train({.plan = there, .steps = 0, .load_from = scratch.folder("a"), .save_to = scratch.folder("b")}), first, "moved");
  expect_same_state(train({.plan = here, .steps = 0, .load_from = scratch.folder("b")}), first, "and back");
  const sim::ParallelPlan cut = plan_on({.tensor = 2});  // other blocks of 8-bit codes
  const TrainingResult stayed = train({.plan = here, .steps = 2, .load_from = scratch.folder("a")}),
                       moved = train({.plan = cut, .steps = 2, .load_from = scratch.folder("a")});
  EXPECT_LT(distance(moved, stayed).loss, 1e-3);
  EXPECT_LT(distance(moved, stayed).weights, 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Moments, States, testing::Values(Kept{"Bf16", in_bf16}, Kept{"EightBits", in_eight_bits}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace parity
