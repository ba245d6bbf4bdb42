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

constexpr auto kPairs = "rank 3 alpha 5 on q,v,o,up,down";

std::string kept_as(const std::string& base) { return std::string(kPairs).append(" base ").append(base); }

// What products read of packed weights is what plain ones would be: bits.
TEST_F(AdaptersOnTwoRanks, PackedWeightsAreTheirNumbers) {
  for (const std::string base : {"nf4", "int8"})
    for (const std::int32_t stage : {0, 3}) {
      const sim::ParallelPlan plain = with_zero(with_adapters(tiny_plan(tiny_gpt2(), {.data = 2})), stage),
                              packed = with_adapters(plain, kept_as(base));
      const TrainingResult begun = train({.plan = packed, .steps = 0}), result = train({.plan = packed, .steps = 3});
      EXPECT_EQ(bitwise_difference(frozen_weights(result), frozen_weights(begun), "weights"), "") << base << " zero" << stage;
      EXPECT_EQ(bitwise_difference(train({.plan = plain, .steps = 3, .frozen = frozen_weights(begun)}), result), "")
          << base << " zero" << stage;
      EXPECT_NE(bitwise_difference(train({.plan = plain, .steps = 0}).weights, begun.weights, "weights"), "") << "nothing was rounded";
    }
}

// Rows of documents, owners of whole tensors, slices and codecs of what is summed: none of them asks how frozen weights are kept.
TEST_F(AdaptersOnTwoRanks, PackedWeightsAreTheirNumbersBesideOtherWords) {
  const sim::ParallelPlan data = tiny_plan(tiny_gpt2(), {.data = 2});
  sim::ParallelPlan sliced = tiny_plan(tiny_gpt2(), {.pipeline = 2}), encoded = with_zero(data, 2);
  sliced.slices = 2;
  sliced.model.attention_dropout = 0;
  encoded.workload.precision = encoded.workload.precision.with_gradient_codec({.codec = sim::Codec::Int8});
  for (const sim::ParallelPlan& plan :
       {with_documents(data), by_owner(data, 1), by_owner(data, 2, sim::WeightSync::Broadcast), sliced, encoded}) {
    const sim::ParallelPlan packed = with_adapters(plan, kept_as("nf4"));
    const TrainingResult begun = train({.plan = packed, .steps = 0});
    EXPECT_EQ(bitwise_difference(train({.plan = with_adapters(plan), .steps = 3, .frozen = frozen_weights(begun)}),
                                 train({.plan = packed, .steps = 3})),
              "");
  }
}

TEST_F(AdaptersOnTwoRanks, PackedOnesGoOnUnderAnotherLayout) {
  const sim::ParallelPlan sharded = with_zero(with_adapters(tiny_plan(tiny_llama(), {.data = 2}), kept_as("nf4")), 3);
  const ScratchOfJob scratch;
  const TrainingResult saved = train({.plan = sharded, .steps = 2, .save_to = scratch.folder("packed")});
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.pipeline = 2}, sim::DeviceMesh{.data = 2}}) {
    const sim::ParallelPlan plan = with_adapters(tiny_plan(tiny_llama(), mesh), kept_as("nf4"));
    const TrainingResult loaded = train({.plan = plan, .steps = 0, .load_from = scratch.folder("packed")});
    EXPECT_EQ(bitwise_difference(loaded.weights, saved.weights, "weights"), "");
    EXPECT_EQ(bitwise_difference(loaded.moments, saved.moments, "moments"), "");
  }
}

TEST_F(AdaptersOnTwoRanks, DropoutIsTheSameAtAnyLayout) {
  const sim::ParallelPlan plan = with_adapters(tiny_plan(tiny_gpt2(), {.data = 2}), std::string(kPairs) + " dropout 0.2");
  const TrainingResult dropped = train({.plan = plan, .steps = 3});
  for (const std::int32_t stage : {1, 2, 3})
    EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, stage), .steps = 3}), dropped), "");
  EXPECT_NE(bitwise_difference(train({.plan = with_adapters(plan), .steps = 3}), dropped), "") << "nothing was dropped";
  sim::ParallelPlan again = plan;
  again.recompute = sim::Recompute::Full;
  EXPECT_EQ(bitwise_difference(train({.plan = again, .steps = 3}), dropped), "");
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
