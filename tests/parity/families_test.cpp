// Each family of tests/reference/families on two ranks against one process, in fp64: relative L2 of every gradient and weight <= 1e-10.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kFamilySteps = 2;
constexpr Tolerance kFamilyTolerance{1e-10};

std::vector<std::string> families() {
  std::vector<std::string> names;
  std::error_code elsewhere;  // programs that were packed run without these files
  for (const auto& file : std::filesystem::directory_iterator("tests/reference/families", elsewhere)) names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

sim::ParallelPlan family_plan(const std::string& family, sim::DeviceMesh mesh) {
  const sim::ModelConfig model = sim::load_model_config("tests/reference/families/" + family + ".json");
  return with_precision(tiny_plan(model, mesh), sim::Precision::Fp64);
}

class Families : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  static void expect_agreement(const sim::ParallelPlan& plan) {
    if (const auto refused = sim::why_not_runnable(plan); !refused.empty()) GTEST_SKIP() << refused.front().problem;
    if (const auto wrong = sim::violations(plan); !wrong.empty()) GTEST_SKIP() << wrong.front().problem;  // heads that do not divide
    const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kFamilySteps, .ranks = Ranks::Alone});
    EXPECT_EQ(difference(train({.plan = plan, .steps = kFamilySteps}), alone, kFamilyTolerance), "");
  }
};

TEST_P(Families, TensorRanks) { expect_agreement(family_plan(GetParam(), {.tensor = 2})); }
TEST_P(Families, SequenceParallelAndRecomputation) {
  sim::ParallelPlan plan = family_plan(GetParam(), {.tensor = 2});
  plan.sequence_parallel = true;
  plan.recompute = sim::Recompute::Full;
  expect_agreement(plan);
}
TEST_P(Families, PipelineThatSplitsBackwards) { expect_agreement(with_schedule(family_plan(GetParam(), {.pipeline = 2}), "zb-1p", 1)); }
TEST_P(Families, ShardedDataRanks) {
  const sim::ParallelPlan plan = with_zero(family_plan(GetParam(), {.data = 2}), 3);
  expect_agreement(sim::why_not_runnable(plan).empty() ? plan : with_zero(plan, 2));
}
TEST_P(Families, ContextRanks) { expect_agreement(family_plan(GetParam(), {.context = 2})); }
TEST_P(Families, ExpertRanks) {
  const sim::ParallelPlan plan = family_plan(GetParam(), {.data = 2, .expert = 2});
  if (!plan.model.experts) GTEST_SKIP() << "no experts";
  expect_agreement(plan);
}

// A planted order: norms in front of the turn. The scales begin as ones, which any turn leaves; the second step tells.
TEST(FamiliesAlone, NormsStandBehindTheTurn) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const auto trained = [](sim::QkNorm norm) {
    sim::ParallelPlan plan = on_one_rank(family_plan("hunyuan_v1_dense", {.tensor = 2}));
    plan.model.qk_norm = norm;
    return train({.plan = plan, .steps = kFamilySteps, .ranks = Ranks::Alone});
  };
  EXPECT_NE(difference(trained(sim::QkNorm::Heads), trained(sim::QkNorm::Turned), kFamilyTolerance), "");
}

// Planted pieces: a mask that hides the neighbours, types of tokens forgotten, no transform in front of the head.
TEST(FamiliesAlone, MaskedTokensReadAllOfTheirNetwork) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  sim::ParallelPlan right = on_one_rank(family_plan("bert", {.tensor = 2}));
  right.model.initializer_range = 0.2;
  const auto loss = [](const sim::ParallelPlan& plan) { return train({.plan = plan, .steps = 1, .ranks = Ranks::Alone}).losses.front(); };
  sim::ParallelPlan alone = right, untyped = right, untransformed = right;
  alone.model.window = 1;
  untyped.model.token_types = 0;
  untransformed.model.head_transform = false;
  for (const sim::ParallelPlan& wrong : {alone, untyped, untransformed}) EXPECT_GT(std::abs(loss(wrong) / loss(right) - 1), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, Families, testing::ValuesIn(families()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace parity
