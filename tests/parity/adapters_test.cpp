// Adapters beside frozen weights: what is frozen keeps every bit, and a checkpoint of one layout goes on under another.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

Tensors frozen_weights(const TrainingResult& result) {
  Tensors frozen;
  for (const auto& [name, values] : result.weights)
    if (name.find(".adapters.") == std::string::npos) frozen[name] = values;
  return frozen;
}

class AdaptersOnTwoRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
};

TEST_F(AdaptersOnTwoRanks, FrozenWeightsKeepEveryBit) {
  for (const sim::Precision precision : {sim::Precision::Fp32, sim::Precision::Bf16})
    for (const std::int32_t stage : {0, 1, 2, 3}) {
      const sim::ParallelPlan plan = with_zero(with_precision(with_adapters(tiny_plan(tiny_gpt2(), {.data = 2})), precision), stage);
      const TrainingResult before = train({.plan = plan, .steps = 0}), after = train({.plan = plan, .steps = 3});
      EXPECT_EQ(bitwise_difference(frozen_weights(after), frozen_weights(before), "weights"), "") << "zero" << stage;
      EXPECT_NE(bitwise_difference(after.weights, before.weights, "weights"), "") << "nothing was trained";
    }
}

TEST_F(AdaptersOnTwoRanks, GoOnUnderAnotherLayout) {
  const sim::ParallelPlan sharded = with_zero(with_adapters(tiny_plan(tiny_llama(), {.data = 2})), 3);
  const ScratchOfJob scratch;
  const TrainingResult saved = train({.plan = sharded, .steps = 2, .save_to = scratch.folder("sharded")});
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.tensor = 2}, sim::DeviceMesh{.pipeline = 2}, sim::DeviceMesh{.data = 2}}) {
    const sim::ParallelPlan plan = with_adapters(tiny_plan(tiny_llama(), mesh));
    const TrainingResult loaded = train({.plan = plan, .steps = 0, .load_from = scratch.folder("sharded")});
    EXPECT_EQ(bitwise_difference(loaded.weights, saved.weights, "weights"), "");
    EXPECT_EQ(bitwise_difference(loaded.moments, saved.moments, "moments"), "");
  }
}

}  // namespace
}  // namespace parity
