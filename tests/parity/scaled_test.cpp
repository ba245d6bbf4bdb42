// Products in 8 bit, emulated: what compositions do not tell. In one process every microbatch is a product of its own, as on ranks.
#include <gtest/gtest.h>

#include <map>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kScaledSteps = 4, kScaledTraining = 200;
constexpr double kScaledBand = 0.05;  // of the first loss, beside bf16
constexpr Tolerance kRoundedAlike{1e-10};

sim::ParallelPlan scaled(sim::ParallelPlan plan, const std::string& precision) {
  std::vector<sim::Violation> wrong;
  plan.workload.precision = sim::parse_precision_policy(precision, wrong);
  EXPECT_TRUE(wrong.empty()) << precision;
  return plan;
}

// Tiles of 128 stay whole on two tensor ranks.
sim::ModelConfig in_tiles() {
  sim::ModelConfig model = tiny_llama();
  model.layers = 2;
  model.hidden = 256;
  model.heads = model.kv_heads = 4;
  model.head_dim = 64;
  model.ffn = 512;
  return model;
}

class Scaled : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  static sim::ParallelPlan plan_on(sim::DeviceMesh mesh) { return scaled(tiny_plan(tiny_llama(), mesh), GetParam()); }
};

TEST_P(Scaled, AreRounded) {
  const sim::ParallelPlan plan = scaled(tiny_plan(tiny_llama(), {.data = 2}), std::string(GetParam()) + " unscaled=fp64");
  const sim::ParallelPlan plain = scaled(plan, "fp64");
  const Distance lost = distance(train({.plan = plan, .steps = 2}), train({.plan = plain, .steps = 2}));
  EXPECT_GT(lost.gradients, 1e-3);
  EXPECT_LT(lost.loss, 0.05);
}

// Stages of a pipeline: products have the shapes of one process, and sums its order.
TEST_P(Scaled, StagesHaveTheBitsOfOneProcess) {
  const sim::ParallelPlan plan = plan_on({.pipeline = 2});
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 3, .ranks = Ranks::Alone});
  for (const sim::ParallelPlan& each : {plan, with_schedule(plan, "zb-1p", 1), with_schedule(plan, "interleaved", 2)})
    EXPECT_EQ(bitwise_difference(train({.plan = each, .steps = 3}), alone), "");
}

// Of experts, each a product of its own, and beside adapters.
TEST_P(Scaled, StagesOfExpertsAndAdaptersHaveTheBitsOfOneProcess) {
  for (const sim::ParallelPlan& of :
       {tiny_plan(tiny_mixtral(), {.pipeline = 2}), with_adapters(tiny_plan(tiny_llama(), {.pipeline = 2}))}) {
    const sim::ParallelPlan plan = with_schedule(scaled(of, GetParam()), "zb-1p", 1);
    const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 3, .ranks = Ranks::Alone});
    EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = 3}), alone), "");
  }
}

// Data ranks with a microbatch each: the bits of one process, but for rows of the embedding, to which that adds token after token, of both microbatches.
// Gradients are as wide as products: in bf16 a rank rounds a norm's before they are summed, and one process adds them as they are.
TEST_P(Scaled, DataRanksHaveTheBitsOfOneProcess) {
  sim::ParallelPlan plan = scaled(tiny_plan(tiny_llama(), {.data = 2}), std::string(GetParam()) + " unscaled=fp32");
  plan.workload.global_batch = 2;
  const auto gradients = [](const sim::ParallelPlan& of, Ranks ranks) {
    Tensors all = train({.plan = of, .steps = 1, .ranks = ranks}).gradients.front();
    all.erase("embedding.tokens.weight");
    return all;
  };
  const Tensors alone = gradients(on_one_rank(plan), Ranks::Alone);
  for (const sim::ParallelPlan& each : {plan, with_zero(plan, 3)})
    EXPECT_EQ(bitwise_difference(gradients(each, Ranks::All), alone, "gradients"), "");
}

// Experts of two ranks: each rank's rows are products of their own, added up in the order of one process.
TEST_P(Scaled, ExpertRanksHaveTheBitsOfOneProcess) {
  sim::ParallelPlan plan = scaled(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}), std::string(GetParam()) + " unscaled=fp32");
  plan.workload.global_batch = 2;
  plan.model.experts->balance_loss = 0;
  const auto gradients = [&](const sim::ParallelPlan& of, Ranks ranks) {
    Tensors all = train({.plan = of, .steps = 1, .ranks = ranks}).gradients.front();
    all.erase("embedding.tokens.weight");
    return all;
  };
  EXPECT_EQ(bitwise_difference(gradients(plan, Ranks::All), gradients(on_one_rank(plan), Ranks::Alone), "gradients"), "");
}

// Tokens that can be learnt, of which each rank has half.
const std::vector<double>& losses_of(const std::string& precision) {
  static std::map<std::string, std::vector<double>> known;
  std::vector<double>& losses = known[precision];
  if (!losses.empty()) return losses;
  sim::ModelConfig model = tiny_llama();
  model.layers = 2;
  sim::ParallelPlan plan = with_zero(scaled(tiny_plan(model, {.data = 2}), precision), 2);
  plan.microbatch_size = plan.workload.global_batch / 2;
  std::vector<std::int64_t> tokens;
  for (std::int64_t at = 0; at < 400; ++at) tokens.push_back((at * at + 5 * at) % 31);
  return losses = train({.plan = plan, .steps = kScaledTraining, .tokens = tokens, .assembles_gradients = false}).losses;
}

TEST_P(Scaled, StayInTheBandOfBf16) {
  const std::vector<double>&narrow = losses_of(GetParam()), &judge = losses_of("bf16");
  EXPECT_LT(judge.back(), 0.7 * judge.front());
  double most = 0;
  for (std::size_t step = 0; step < judge.size(); ++step) most = std::max(most, std::abs(narrow[step] - judge[step]) / judge.front());
  RecordProperty("farthest", std::to_string(most));
  RecordProperty("last", std::to_string(judge.back()) + " " + std::to_string(narrow.back()));
  EXPECT_LT(most, kScaledBand);
}

INSTANTIATE_TEST_SUITE_P(EightBits, Scaled,
                         testing::Values("fp8:delayed", "fp8:delayed history=16", "fp8:tensorwise", "fp8:rowwise", "fp8:blockwise",
                                         "fp8:mx"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase_if(name, [](char sign) { return std::isalnum(static_cast<unsigned char>(sign)) == 0; });
                           return name;
                         });

TEST(ScaledTiles, FollowTheTensorAndNotTheShard) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  for (const bool sequence : {false, true}) {
    sim::ParallelPlan plan = scaled(tiny_plan(in_tiles(), {.tensor = 2}), "fp8:blockwise unscaled=fp64");
    plan.sequence_parallel = sequence;
    EXPECT_EQ(
        difference(train({.plan = plan, .steps = 2}), train({.plan = on_one_rank(plan), .steps = 2, .ranks = Ranks::Alone}), kRoundedAlike),
        "");
  }
}

// Blocks, or parts of all blocks, without scales beside others that have them: all of them are the plan in bf16, and most of them bring it nearer.
TEST(UnscaledBlocks, AllOfThemHaveTheBitsOfNoScales) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.data = 2}, sim::DeviceMesh{.tensor = 2}, sim::DeviceMesh{.pipeline = 2}})
    for (const char* all : {"fp8:tensorwise blocks:0-3=bf16", "fp8:tensorwise products:attention,mlp=bf16"}) {
      const sim::ParallelPlan plan = scaled(tiny_plan(tiny_llama(), mesh), all);
      EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = 2}), train({.plan = scaled(plan, "bf16"), .steps = 2})), "");
    }
}

TEST(UnscaledBlocks, MostOfThemAreLessRounded) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const sim::ParallelPlan plan = tiny_plan(tiny_llama(), {.tensor = 2});
  const TrainingResult exact = train({.plan = scaled(plan, "fp64"), .steps = 1});
  const auto lost = [&](const char* words) {
    return distance(train({.plan = scaled(plan, std::string("fp8:tensorwise unscaled=fp64") + words), .steps = 1}), exact).gradients;
  };
  EXPECT_LT(lost(" blocks:0-2=fp64"), lost(""));
  EXPECT_GT(lost(" blocks:0-2=fp64"), 1e-3);
  EXPECT_LT(lost(" products:mlp=fp64"), lost(""));
  EXPECT_GT(lost(" products:mlp=fp64"), 1e-3);
}

TEST(UnscaledBlocks, StagesHaveTheBitsOfOneProcess) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const sim::ParallelPlan plan = scaled(tiny_plan(tiny_llama(), {.pipeline = 2}), "fp8:rowwise blocks:0,3=bf16");
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 3, .ranks = Ranks::Alone});
  for (const sim::ParallelPlan& each : {plan, with_schedule(plan, "zb-1p", 1), with_schedule(plan, "interleaved", 2)})
    EXPECT_EQ(bitwise_difference(train({.plan = each, .steps = 3}), alone), "");
}

TEST(DelayedScales, GoOnFromACheckpointWithEveryBit) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const ScratchOfJob scratch;
  const sim::ParallelPlan plan = with_zero(scaled(tiny_plan(tiny_llama(), {.data = 2}), "fp8:delayed history=3 unscaled=fp64"), 3);
  const TrainingResult whole = train({.plan = plan, .steps = kScaledSteps});
  train({.plan = plan, .steps = 2, .save_to = scratch.folder("a")});
  EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = 2, .load_from = scratch.folder("a")}).weights, whole.weights, "gone on"), "");
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.tensor = 2}, sim::DeviceMesh{.pipeline = 2}}) {
    sim::ParallelPlan there = scaled(tiny_plan(tiny_llama(), mesh), "fp8:delayed history=3 unscaled=fp64");
    const TrainingResult moved = train({.plan = there, .steps = 2, .load_from = scratch.folder("a")});
    const TrainingResult stayed = train({.plan = plan, .steps = 2, .load_from = scratch.folder("a")});
    EXPECT_EQ(difference(moved, stayed, kRoundedAlike), "");
  }
}

}  // namespace
}  // namespace parity
