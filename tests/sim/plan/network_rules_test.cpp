#include <gmock/gmock.h>

#include <set>

#include "sim/model/map_families.h"
#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(NetworkRules, NetworksOfMapsAreCutOverDataAndPipelineRanks) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 2});
  plan.model = convolutional_model("resnet", {.image = 32, .widths = {64}, .depths = {2}}, 10);
  plan.recompute = Recompute::Selective;
  std::set<std::string> where;
  for (const Violation& violation : violations(plan))
    if (violation.problem.starts_with("of a convolutional network")) where.insert(violation.where);
  EXPECT_EQ(where, (std::set<std::string>{"/mesh/tensor", "/workload/sequence", "/recompute"}));
}

TEST(NetworkRules, StatisticsAreSharedWhereThereAreNormsOfBatches) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.sync_batch_norm = true;
  EXPECT_THAT(violations(plan), broken("/sync_batch_norm", "this network has none"));
  plan.model = convolutional_model("resnet", {.image = 32, .widths = {64}, .depths = {2}}, 10);
  plan.workload.sequence = 1;
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.mesh.replicas = 2;
  EXPECT_THAT(violations(plan), broken("/sync_batch_norm", "there are 2 of them"));
}

TEST(NetworkRules, PredictionsApartAreOfANetworkThatHasThemAndAHeadOfItsOwn) {
  ParallelPlan plan = testing::plan_with_predictions_apart({.pipeline = 4}, 1);
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.tied_embeddings = true;
  EXPECT_THAT(violations(plan), broken("/workload/mtp_apart", "on three stages"));
  plan = testing::tiny_plan();
  plan.model.mtp_apart = true;
  EXPECT_THAT(violations(plan), broken("/workload/mtp_apart", "there are none"));
}

TEST(NetworkRules, WhatBlocksShareIsOnOneStage) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.shared_kv_layers = 1;
  EXPECT_THAT(violations(plan), broken("/mesh/pipeline", "were made on another stage"));
  plan.model.shared_kv_layers = 0, plan.model.layer_inputs = 4, plan.model.layer_vocabulary = 16;
  EXPECT_THAT(violations(plan), broken("/mesh/pipeline", "were made on another stage"));
}

// Each size that a block has is judged.
TEST(NetworkRules, TensorRanksDivideTheHeadsOfEveryBlock) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  const BlockSizes sizes{plan.model.heads, plan.model.kv_heads, plan.model.head_dim, plan.model.ffn};
  plan.model.sizes.assign(static_cast<std::size_t>(plan.model.layers), sizes);
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.sizes.back().heads = 3, plan.model.sizes.back().kv_heads = 3;
  EXPECT_THAT(violations(plan), broken("/mesh/tensor", "3 attention heads are not divisible"));
}

TEST(NetworkRules, AnIndexerSeesAllTokens) {
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  plan.model.attention.indexer = {.heads = 2, .width = 16, .topk = 4};
  EXPECT_THAT(violations(plan), broken("/mesh/context", "an indexer chooses among all tokens of a sample"));
  plan.mesh.context = 1;
  plan.cluster.devices = 1;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.slices = 2;
  EXPECT_THAT(violations(plan), broken("/slices", "an indexer"));
}

TEST(NetworkRules, ContextRanksHaveWholeHeadsOfAScan) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2, .context = 4});
  plan.model = testing::tiny_llama();
  plan.model.linear_layers.assign(static_cast<std::size_t>(plan.model.layers), true);
  const auto with = [&](LinearRule rule, std::int64_t heads, std::int64_t groups) {
    plan.model.linear = LinearForm{.rule = rule, .heads = heads, .groups = groups, .key = 16, .value = 8};
    return violations(plan);
  };
  EXPECT_THAT(with(LinearRule::StateSpace, 16, 8), IsEmpty());
  EXPECT_THAT(with(LinearRule::StateSpace, 16, 4), IsEmpty());  // a group for two context ranks
  EXPECT_THAT(with(LinearRule::GatedDelta, 16, 8), IsEmpty());
  EXPECT_THAT(with(LinearRule::GatedDelta, 16, 4), broken("/mesh/context", "16 heads of linear attention in 4 groups are not dealt out"));
  EXPECT_THAT(with(LinearRule::StateSpace, 12, 12), broken("/mesh/context", "to tensor 2 x context 4 ranks"));
  plan.mesh = {.context = 2};
  plan.cluster.devices = 2;
  EXPECT_THAT(with(LinearRule::ShortConvolution, 16, 16), broken("/mesh/context", "layers of channels"));
}

TEST(NetworkRules, ScansOfChannelsAreNotCut) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  plan.model = testing::tiny_llama();
  plan.model.linear = LinearForm{.rule = LinearRule::ShortConvolution, .heads = 64, .groups = 64, .key = 1, .value = 1};
  plan.model.linear_layers.assign(static_cast<std::size_t>(plan.model.layers), true);
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.linear->heads = plan.model.linear->groups = 63;
  EXPECT_THAT(violations(plan), broken("/mesh/tensor", "63 channels are not divisible by tensor degree 2"));
  plan.model.linear->heads = plan.model.linear->groups = 64;
  plan.model.linear->rule = LinearRule::Selective;
  EXPECT_THAT(violations(plan), broken("/mesh/tensor", "steps of a selective scan are made of all channels"));
  plan.model.linear.reset();
  plan.model.linear_layers.clear();
  plan.model.inner_norms = true;
  EXPECT_THAT(violations(plan), broken("/mesh/tensor", "norms of what all heads put out"));
}

}  // namespace
}  // namespace sim
