// Parts that are not trained: what is frozen keeps every bit, layouts agree with one process, and what is in front of all that is trained goes nowhere back.
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

sim::ParallelPlan with_frozen(sim::ParallelPlan plan, const std::string& text) {
  std::vector<sim::Violation> wrong;
  plan.model.frozen = sim::parse_frozen_parts(text, wrong);
  EXPECT_TRUE(wrong.empty()) << text;
  return plan;
}

// By what the model's graph says of each.
Tensors frozen_weights(const sim::ParallelPlan& plan, const TrainingResult& result) {
  Tensors frozen;
  const sim::ModelGraph model = sim::make_model_graph(plan);
  for (const sim::Layer& layer : model.layers)
    for (const sim::Parameter& parameter : layer.parameters)
      if (const auto found = result.weights.find(parameter.name); parameter.frozen && found != result.weights.end()) frozen.insert(*found);
  return frozen;
}

const std::vector<std::string> kParts = {"embedding", "norms", "attention", "mlp", "first 1", "first 3", "norms first 2"},
                               kWithHeadAlone = {"embedding", "norms", "attention", "mlp", "first 1", "first 4", "head first 2"};

class FrozenOnTwoRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  static void expect_agreement(const sim::ParallelPlan& plan, const std::string& what) {
    ASSERT_TRUE(sim::violations(plan).empty()) << what << sim::violations(plan).front().problem;
    ASSERT_TRUE(sim::why_not_runnable(plan).empty()) << what;
    const sim::ParallelPlan fp64 = with_precision(plan, sim::Precision::Fp64);
    EXPECT_EQ(difference(train({.plan = fp64, .steps = 3}), train({.plan = on_one_rank(fp64), .steps = 3, .ranks = Ranks::Alone}), {1e-10}),
              "")
        << what;
  }
};

TEST_F(FrozenOnTwoRanks, FrozenWeightsKeepEveryBitAndOthersDoNot) {
  for (const std::string& parts : kWithHeadAlone)
    for (const std::int32_t stage : {0, 1, 3}) {
      const sim::ParallelPlan plan = with_zero(with_frozen(tiny_plan(tiny_llama(), {.data = 2}), parts), stage);
      const TrainingResult before = train({.plan = plan, .steps = 0}), after = train({.plan = plan, .steps = 3});
      const Tensors frozen = frozen_weights(plan, before);
      ASSERT_FALSE(frozen.empty()) << parts;
      EXPECT_EQ(bitwise_difference(frozen_weights(plan, after), frozen, "weights"), "") << parts << " zero" << stage;
      std::size_t trained = 0;
      for (const auto& [name, values] : before.weights)
        trained += !frozen.contains(name) && !at::equal(after.weights.at(name), values) ? 1 : 0;
      EXPECT_EQ(trained, before.weights.size() - frozen.size()) << parts << " zero" << stage;
    }
}

// In the first step what is trained has the gradients that it has in the whole network, and nothing else has any.
TEST_F(FrozenOnTwoRanks, TheRestBeginsAsInTheWholeNetwork) {
  const sim::ParallelPlan whole = tiny_plan(tiny_llama(), {.data = 2});
  const TrainingResult all = train({.plan = whole, .steps = 1});
  for (const std::string& parts : kWithHeadAlone) {
    const sim::ParallelPlan plan = with_frozen(whole, parts);
    const TrainingResult some = train({.plan = plan, .steps = 1});
    EXPECT_EQ(some.losses, all.losses) << parts;
    const Tensors frozen = frozen_weights(plan, all);
    for (const auto& [name, gradient] : all.gradients.front()) {
      const auto found = some.gradients.front().find(name);
      const bool has_one = found != some.gradients.front().end() && found->second.count_nonzero().item<std::int64_t>() > 0;
      ASSERT_NE(has_one, frozen.contains(name)) << parts << ": " << name;
      EXPECT_TRUE(!has_one || at::equal(found->second, gradient)) << parts << ": " << name;
    }
  }
}

TEST_F(FrozenOnTwoRanks, DataRanksAgreeInEveryBit) {
  for (const std::string& parts : kParts) {
    const sim::ParallelPlan plan = with_frozen(tiny_plan(tiny_gpt2(), {.data = 2}), parts);
    const TrainingResult ddp = train({.plan = plan, .steps = 3});
    for (const std::int32_t stage : {1, 2, 3})
      EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, stage), .steps = 3}), ddp), "") << parts << " zero" << stage;
    sim::ParallelPlan again = plan;
    again.recompute = sim::Recompute::Full;
    EXPECT_EQ(bitwise_difference(train({.plan = again, .steps = 3}), ddp), "") << parts << " recomputed";
    EXPECT_EQ(bitwise_difference(train({.plan = by_owner(plan, 1), .steps = 3}), ddp), "") << parts << " by owners";
  }
}

TEST_F(FrozenOnTwoRanks, LayoutsAgreeWithOneProcess) {
  for (const std::string& parts : kParts) {
    expect_agreement(with_frozen(tiny_plan(tiny_gpt2(), {.tensor = 2}), parts), parts + " over tensor ranks");
    expect_agreement(with_frozen(tiny_plan(tiny_gpt2(), {.pipeline = 2}), parts), parts + " over stages");
    for (const char* schedule : {"zb-1p", "gpipe"})
      expect_agreement(with_frozen(with_schedule(tiny_plan(tiny_llama(), {.pipeline = 2}), schedule, 1), parts), parts + " " + schedule);
    expect_agreement(with_frozen(with_schedule(tiny_plan(tiny_llama(), {.pipeline = 2}), "zbv", 2), parts), parts + " zbv");
    expect_agreement(with_frozen(tiny_plan(tiny_llama(), {.context = 2}), parts), parts + " over context ranks");
    sim::ParallelPlan sequence = with_frozen(tiny_plan(tiny_llama(), {.tensor = 2}), parts);
    sequence.sequence_parallel = true;
    expect_agreement(sequence, parts + " with sequence parallel");
    sim::ModelConfig even = tiny_mixtral();
    even.experts->forced_balance = true;
    expect_agreement(with_zero(with_frozen(tiny_plan(even, {.data = 2, .expert = 2}), parts), 3), parts + " of experts");
  }
}

// Of what is trained alone.
TEST_F(FrozenOnTwoRanks, GoOnUnderAnotherLayout) {
  const sim::ParallelPlan sharded = with_zero(with_frozen(tiny_plan(tiny_llama(), {.data = 2}), "norms first 2"), 3);
  const ScratchOfJob scratch;
  const TrainingResult saved = train({.plan = sharded, .steps = 2, .save_to = scratch.folder("sharded")});
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.tensor = 2}, sim::DeviceMesh{.pipeline = 2}, sim::DeviceMesh{.data = 2}}) {
    const sim::ParallelPlan plan = with_frozen(tiny_plan(tiny_llama(), mesh), "norms first 2");
    const TrainingResult loaded = train({.plan = plan, .steps = 0, .load_from = scratch.folder("sharded")});
    EXPECT_EQ(bitwise_difference(loaded.weights, saved.weights, "weights"), "");
    EXPECT_EQ(bitwise_difference(loaded.moments, saved.moments, "moments"), "");
  }
}

}  // namespace
}  // namespace parity
