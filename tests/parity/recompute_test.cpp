// What is recomputed, and where, changes no bit.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kFewStepsAgain = 2;

void expect_no_other_bit(const sim::ParallelPlan& keeping, const std::string& scope) {
  std::vector<sim::Violation> wrong;
  sim::ParallelPlan plan = keeping;
  plan.recompute_scope = sim::parse_recompute_scope(scope, wrong);
  plan.recompute = plan.recompute_scope.modules.none() ? sim::Recompute::Full : sim::Recompute::Selective;
  ASSERT_TRUE(sim::why_not_runnable(plan).empty()) << scope;
  EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = kFewStepsAgain}), train({.plan = keeping, .steps = kFewStepsAgain})), "")
      << scope;
}

class RecomputationOnTwoRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
};

TEST_F(RecomputationOnTwoRanks, ChangesNoBit) {
  sim::ParallelPlan sequence = tiny_plan(tiny_gpt2(), {.tensor = 2});
  sequence.sequence_parallel = true;
  const sim::ParallelPlan pipeline = tiny_plan(tiny_gpt2(), {.pipeline = 2});
  const sim::ParallelPlan plans[] = {with_zero(tiny_plan(tiny_gpt2(), {.data = 2}), 3), tiny_plan(tiny_llama(), {.tensor = 2}), sequence,
                                     with_schedule(pipeline, "interleaved", 2), with_schedule(pipeline, "zb-1p", 1)};
  for (const sim::ParallelPlan& plan : plans)
    for (const std::string scope : {"", "first 1", "every 2", "but_last", "first 1 but_last", "modules mlp"})
      expect_no_other_bit(plan, scope);
  for (const std::string schedule : {"1f1b", "zb-1p"}) expect_no_other_bit(with_schedule(pipeline, schedule, 1), "first 1,0");
}

TEST_F(RecomputationOnTwoRanks, OfBlocksTogetherChangesNoBit) {
  sim::ModelConfig network = tiny_gpt2();
  network.layers = 5;
  sim::ModelConfig without_drops = network;
  without_drops.attention_dropout = 0;
  const sim::ParallelPlan pipeline = tiny_plan(network, {.pipeline = 2});
  for (const sim::ParallelPlan& plan :
       {with_zero(tiny_plan(network, {.data = 2}), 2), tiny_plan(without_drops, {.context = 2}), with_schedule(pipeline, "1f1b", 1),
        with_schedule(pipeline, "interleaved", 2), with_schedule(pipeline, "zb-1p", 1)})
    for (const std::string scope : {"together 2", "together 5 but_last"}) expect_no_other_bit(plan, scope);
}

// Where ranks meet at the end of a block, the last one of a group runs to its end, too; and wherever a program does so.
TEST_F(RecomputationOnTwoRanks, ToTheEndOfABlockChangesNoBit) {
  sim::ParallelPlan sequence = tiny_plan(tiny_llama(), {.tensor = 2});
  sequence.sequence_parallel = true;
  for (const sim::ParallelPlan& plan :
       {tiny_plan(tiny_gpt2(), {.tensor = 2}), sequence, tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}),
        tiny_plan(tiny_mixtral(), {.data = 2}), tiny_plan(tiny_mbart(), {.tensor = 2}), tiny_plan(tiny_mbart(), {.data = 2})})
    for (const std::string scope : {"together 2", "together 5 but_last"}) expect_no_other_bit(plan, scope);
  for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_mixtral()}) {
    sim::ParallelPlan plan = tiny_plan(model, {.tensor = 2});
    plan.cluster.software.own_memory = plan.cluster.software.repeats_blocks = true;
    for (const std::string scope : {"", "every 2"}) expect_no_other_bit(plan, scope);
  }
}

TEST_F(RecomputationOnTwoRanks, OfExpertsChangesNoBit) {
  const sim::ParallelPlan plan = tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2});
  for (const std::string scope : {"modules moe", "modules mlp", "modules mlp,moe", "first 2"}) expect_no_other_bit(plan, scope);
  sim::ParallelPlan sequence = tiny_plan(tiny_mixtral(), {.tensor = 2});
  sequence.sequence_parallel = true;
  expect_no_other_bit(sequence, "modules moe");
}

// Modules within segments, by themselves and together.
TEST_F(RecomputationOnTwoRanks, OfModulesChangesNoBit) {
  const sim::ParallelPlan pipeline = tiny_plan(tiny_gpt2(), {.pipeline = 2});
  for (const sim::ParallelPlan& plan :
       {with_zero(tiny_plan(tiny_gpt2(), {.data = 2}), 3), tiny_plan(tiny_llama(), {.tensor = 2}), with_schedule(pipeline, "zb-1p", 1)})
    for (const std::string scope : {"modules core_attn", "modules layernorm", "modules core_attn,layernorm"})
      expect_no_other_bit(plan, scope);
  for (const std::string scope : {"modules moe_act", "modules shared_experts", "modules core_attn,layernorm,moe_act,shared_experts"}) {
    expect_no_other_bit(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}), scope);
    expect_no_other_bit(tiny_plan(tiny_mixtral(), {.tensor = 2}), scope);
  }
  sim::ModelConfig dropping = tiny_deepseek();
  dropping.attention_dropout = 0.1;
  for (const sim::ModelConfig& model : {tiny_deepseek(), dropping})
    for (const std::string scope : {"modules mla_up_proj", "modules core_attn,mla_up_proj,layernorm"}) {
      expect_no_other_bit(with_zero(tiny_plan(model, {.data = 2}), 3), scope);
      expect_no_other_bit(tiny_plan(model, {.tensor = 2}), scope);
    }
}

// What stands beside attention, where ranks or slices share a sample.
TEST_F(RecomputationOnTwoRanks, OfModulesBesideKeysThatArePassedChangesNoBit) {
  sim::ModelConfig model = tiny_gpt2();
  model.attention_dropout = 0;
  sim::ParallelPlan sliced = tiny_plan(model, {.pipeline = 2}), dealt = tiny_plan(model, {.context = 2});
  sliced.slices = 2;
  dealt.context_algorithm = sim::ContextAlgorithm::AllToAll;
  for (const sim::ParallelPlan& plan : {tiny_plan(model, {.context = 2}), dealt, tiny_plan(tiny_deepseek(), {.context = 2}), sliced})
    expect_no_other_bit(plan, "modules layernorm");
  sim::ModelConfig one_key_head = tiny_llama();
  one_key_head.kv_heads = 1;  // of which tensor ranks have a part of the columns
  sim::ModelConfig normed_together = tiny_llama();
  normed_together.qk_norm = sim::QkNorm::Joint;
  for (const sim::ModelConfig& met : {one_key_head, normed_together})
    expect_no_other_bit(tiny_plan(met, {.tensor = 2}), "modules layernorm");
  sim::ParallelPlan experts = tiny_plan(tiny_mixtral(), {.context = 2, .expert = 2});
  experts.model.experts->balance_loss = 0;
  expect_no_other_bit(experts, "modules layernorm,moe_act,shared_experts");
}

// Megatron-Core's own list for DeepSeek-V3 is mla_up_proj and mlp.
TEST_F(RecomputationOnTwoRanks, OfFeedForwardsBesideModulesChangesNoBit) {
  for (const std::string scope : {"modules mla_up_proj,mlp", "modules core_attn,mlp"}) {
    expect_no_other_bit(with_zero(tiny_plan(tiny_deepseek(), {.data = 2}), 3), scope);
    expect_no_other_bit(tiny_plan(tiny_deepseek(), {.tensor = 2}), scope);
  }
  const sim::ParallelPlan experts = tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2});
  for (const std::string scope : {"modules mlp,moe_act", "modules core_attn,moe", "modules mlp,moe_act,shared_experts"})
    expect_no_other_bit(experts, scope);
}

TEST_F(RecomputationOnTwoRanks, BehindNormsChangesNoBit) {
  sim::ModelConfig model = tiny_llama();
  model.norm_place = sim::NormPlace::Around;
  expect_no_other_bit(tiny_plan(model, {.tensor = 2}), "modules mlp");
}

}  // namespace
}  // namespace parity
