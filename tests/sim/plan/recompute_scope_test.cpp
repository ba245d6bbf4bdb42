#include "sim/plan/recompute_scope.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

RecomputeScope scope_of(std::string_view text) {
  std::vector<Violation> violations;
  RecomputeScope scope = parse_recompute_scope(text, violations);
  EXPECT_TRUE(violations.empty()) << text;
  return scope;
}

TEST(RecomputeScope, IsOneText) {
  for (const char* text : {"", "modules moe_act,layernorm", "modules op", "first 4", "every 2 but_last", "first 4 every 2", "but_last",
                           "together 4", "together 2 but_last", "first 4,3,0", "first 0,2 every 2"}) {
    const RecomputeScope scope = scope_of(text);
    EXPECT_EQ(scope_of(to_text(scope)), scope) << text;
  }
  EXPECT_EQ(to_text(scope_of("modules layernorm,moe_act")), "modules moe_act,layernorm");
  EXPECT_EQ(to_text(RecomputeScope{}), "");
}

TEST(RecomputeScope, SaysWhatItCannotRead) {
  for (const char* text :
       {"modules attention", "first", "first 0", "every two", "some", "together 0", "together", "first 4,x", "first 4,,2", "first -1,2"}) {
    std::vector<Violation> violations;
    parse_recompute_scope(text, violations);
    EXPECT_EQ(violations.size(), 1u) << text;
  }
}

TEST(RecomputeScope, CountsTheBlocksOfAPart) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.recompute = Recompute::Full;
  plan.recompute_scope.first = 1;
  const auto recomputed = [&](std::int32_t microbatch) {
    std::vector<std::int32_t> blocks;
    for (LayerIndex layer{0}; layer.value() <= plan.model.layers + 1; ++layer)
      if (plan.recomputes(layer, MicrobatchIndex(microbatch))) blocks.push_back(layer.value());
    return blocks;
  };
  EXPECT_THAT(recomputed(0), ::testing::ElementsAre(1, 3));  // four blocks in two parts
  plan.recompute_scope = {.every = 2};
  EXPECT_THAT(recomputed(0), ::testing::ElementsAre(2, 4));
  plan.recompute_scope = {.by_stage = {2, 1}};
  EXPECT_THAT(recomputed(0), ::testing::ElementsAre(1, 2, 3));
  plan.recompute_scope = {.by_stage = {0, 1}};
  EXPECT_THAT(recomputed(0), ::testing::ElementsAre(3));
  plan.recompute_scope = {.but_last = true};
  EXPECT_THAT(recomputed(0), ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(recomputed(static_cast<std::int32_t>(plan.num_microbatches()) - 1), ::testing::IsEmpty());
}

// Groups begin anew in each part; the last may be smaller.
TEST(RecomputeScope, BlocksTogetherKeepOneInput) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.model.layers = 10;
  plan.cut = even_cut(10, plan.pipeline_shape());
  plan.recompute = Recompute::Full;
  plan.recompute_scope = {.together = 2, .but_last = true};
  const auto made_again = [&](std::int32_t microbatch) {
    std::vector<std::int32_t> blocks;
    for (LayerIndex layer{0}; layer.value() <= plan.model.layers + 1; ++layer)
      if (plan.makes_input_again(layer, MicrobatchIndex(microbatch))) blocks.push_back(layer.value());
    return blocks;
  };
  EXPECT_THAT(made_again(0), ::testing::ElementsAre(2, 4, 7, 9));
  EXPECT_THAT(made_again(static_cast<std::int32_t>(plan.num_microbatches()) - 1), ::testing::IsEmpty());
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.recompute_scope.together = 3;
  EXPECT_THAT(made_again(0), ::testing::ElementsAre(2, 3, 5, 7, 8, 10));
}

// One of every chunk.
TEST(RecomputeScope, AStagesNumberIsOfEachOfItsParts) {
  ParallelPlan plan = testing::interleaved_plan({.pipeline = 2}, 2);
  plan.recompute = Recompute::Full;
  plan.recompute_scope = {.by_stage = {1, 0}};
  const auto recomputed = [&](LayerIndex layer) { return plan.recomputes(layer, MicrobatchIndex(0)); };
  EXPECT_TRUE(recomputed(LayerIndex(1)) && recomputed(LayerIndex(3)) && !recomputed(LayerIndex(2)) && !recomputed(LayerIndex(4)));
  EXPECT_TRUE(violations(plan).empty());
  plan.recompute_scope = {.by_stage = {1, 0, 0}};
  EXPECT_EQ(violations(plan).size(), 1u);
}

// Of those that are recomputed and those that send what they keep to the host each list has its own.
TEST(RecomputeScope, ModulesAreOfAList) {
  std::vector<Violation> wrong;
  EXPECT_EQ(to_text(parse_modules("attn_proj,core_attn", kSentToHost, wrong)), "core_attn,attn_proj");
  EXPECT_TRUE(wrong.empty());
  parse_modules("layernorm", kSentToHost, wrong);
  parse_recompute_scope("modules attn_norm", wrong);
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_EQ(wrong.front().remedy, "use core_attn, mlp, moe_act, attn_norm, qkv_linear, attn_proj, mlp_norm, expert_fc1");
}

}  // namespace
}  // namespace sim
