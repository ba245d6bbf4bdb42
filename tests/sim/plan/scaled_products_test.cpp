#include "sim/plan/scaled_products.h"

#include <gtest/gtest.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

TEST(ScaledProducts, EveryMatrixOfABlockHasThreeMaxima) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  const ModelGraph model = make_model_graph(plan);
  EXPECT_EQ(num_scaled(model), 4 * plan.model.layers);  // qkv, projection, up, down
  EXPECT_EQ(agreed_maxima(plan, model), Bytes(0));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Delayed, false);
  EXPECT_EQ(agreed_maxima(plan, model), Bytes(4 * 3 * 4 * plan.model.layers));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Blockwise, false);
  EXPECT_EQ(agreed_maxima(plan, model), Bytes(0)) << "of the step itself";
  plan = testing::tiny_plan({});
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Delayed, false);
  EXPECT_EQ(agreed_maxima(plan, model), Bytes(0)) << "nobody else is there";
}

using Asked = std::vector<AskedMaxima>;
constexpr MeshAxis kTensor = MeshAxis::Tensor, kContext = MeshAxis::Context, kCopies = MeshAxis::ExpertData;

Asked asked(ParallelPlan& plan, ScaleRecipe recipe, const Operator& op, ProductPass pass) {
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
  return asked_maxima(plan, op, pass);
}

const Operator kByRows{OperatorKind::Linear, "up", 64, 256, TensorSplit::Rows},
    kByColumns{OperatorKind::Linear, "down", 256, 64, TensorSplit::Columns},
    kWhole{OperatorKind::Linear, "whole", 64, 64, TensorSplit::None};

TEST(ScaledProducts, AShardAsksForWhatItHasAPartOf) {
  using enum ScaleRecipe;
  using enum ProductPass;
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  ASSERT_EQ(plan.shard_shape().tokens(), 32);
  EXPECT_EQ(asked(plan, Tensorwise, kByRows, Forward), (Asked{{kTensor, 1}}));
  EXPECT_EQ(asked(plan, Tensorwise, kByRows, Backward), (Asked{{kTensor, 1}}));
  EXPECT_EQ(asked(plan, Tensorwise, kByColumns, Forward), (Asked{{kTensor, 2}}));
  EXPECT_EQ(asked(plan, Tensorwise, kByColumns, Backward), Asked{});
  EXPECT_EQ(asked(plan, Rowwise, kByRows, Forward), Asked{});
  EXPECT_EQ(asked(plan, Rowwise, kByRows, Backward), (Asked{{kTensor, 32 + 64}}));
  EXPECT_EQ(asked(plan, Rowwise, kByColumns, Forward), (Asked{{kTensor, 32 + 64}}));
  EXPECT_EQ(asked(plan, Tensorwise, kWhole, Forward), Asked{});
  EXPECT_EQ(asked(plan, Blockwise, kByRows, Forward), Asked{});
}

TEST(ScaledProducts, TokensOfOtherRanksAreAskedForBehindOtherWeights) {
  using enum ScaleRecipe;
  using enum ProductPass;
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  for (const Operator& op : {kByRows, kByColumns, kWhole}) EXPECT_EQ(asked(plan, Tensorwise, op, Forward), (Asked{{kContext, 1}}));
  EXPECT_EQ(asked(plan, Rowwise, kByRows, Forward), (Asked{{kContext, 64}}));
  EXPECT_EQ(asked(plan, Rowwise, kByRows, Backward), (Asked{{kContext, 256}}));
  EXPECT_EQ(asked(plan, Delayed, kByRows, Forward), Asked{});
  plan.mesh = {.tensor = 2, .context = 2};
  EXPECT_EQ(asked(plan, Tensorwise, kByColumns, Forward), (Asked{{kTensor, 2}, {kContext, 1}}));
  EXPECT_EQ(asked(plan, Rowwise, kByColumns, Forward), (Asked{{kTensor, 16 + 64}, {kContext, 128}}));
  EXPECT_EQ(asked(plan, Rowwise, kByRows, Backward), (Asked{{kTensor, 16 + 64}, {kContext, 128}}));
}

// A number for each tile of tokens and column, where ranks cut tiles.
TEST(ScaledProducts, CutTilesOfTokensAreAskedFor) {
  using enum ScaleRecipe;
  using enum ProductPass;
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  const std::int64_t tokens = plan.microbatch_size * plan.workload.sequence;
  EXPECT_EQ(asked(plan, Mx, kByRows, Forward), (Asked{{kContext, (tokens + 31) / 32 * 64}}));
  EXPECT_EQ(asked(plan, Blockwise, kByRows, Backward), (Asked{{kContext, (tokens + 127) / 128 * 256}}));
  plan.workload.sequence = 128;  // mirrored: four pieces of 32
  EXPECT_EQ(asked(plan, Mx, kByRows, Forward), Asked{});
  EXPECT_FALSE(agrees_on_scales(plan));
  EXPECT_EQ(asked(plan, Blockwise, kByRows, Forward), (Asked{{kContext, 64}}));
}

// Each expert's product with the rows of each microbatch asks; those that tensor ranks do not cut ask for nothing.
TEST(ScaledProducts, ExpertsAskForEachOfTheirProducts) {
  using enum ScaleRecipe;
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 2, .expert = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  Operator down{OperatorKind::Linear, "down", 64, 32, TensorSplit::Columns};
  down.experts = 4;
  const auto forward = [&](ScaleRecipe recipe) { return asked(plan, recipe, down, ProductPass::Forward); };
  EXPECT_EQ(forward(Tensorwise), (Asked{{kTensor, 4 * 2}}));
  EXPECT_EQ(forward(Rowwise), (Asked{{kTensor, 2 * plan.shard_shape().tokens() + 4 * 32}}));
  plan.mesh.expert_tensor = 1;
  plan.mesh.expert = 4;
  EXPECT_EQ(forward(Tensorwise), Asked{});
  EXPECT_FALSE(parts_of_microbatches(plan));
  plan.mesh.expert = 1;
  EXPECT_TRUE(parts_of_microbatches(plan)) << "a tensor rank's copy of an expert gets the rank's own tokens";
  EXPECT_EQ(forward(Tensorwise), (Asked{{kCopies, 4 * 2}})) << "four experts; a place for each of two microbatches";
  plan.mesh = {.data = 2, .context = 4, .expert = 2};  // two copies of each expert in a sample, with the rows of two ranks each
  EXPECT_EQ(forward(Tensorwise), (Asked{{kCopies, 2 * 2}}));
  plan.mesh.expert = 8;
  EXPECT_EQ(forward(Tensorwise), Asked{}) << "all ranks of both samples";
}

// Tensor ranks make it whole, and each has a part of the gradient behind it.
TEST(ScaledProducts, WholeProductsSumWhatTheyRound) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  Operator down = kWhole;
  down.gathered = true;
  EXPECT_FALSE(sums_before_rounding(plan, down));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Delayed, false);
  EXPECT_TRUE(sums_before_rounding(plan, down));
  EXPECT_FALSE(sums_before_rounding(plan, kWhole));
  EXPECT_FALSE(asks_within_computations(plan));
  plan.model.attention.kind = AttentionKind::Latent;
  EXPECT_TRUE(asks_within_computations(plan));
  plan.mesh = {};
  EXPECT_FALSE(sums_before_rounding(plan, down));
}

TEST(ScaledProducts, TilesAreWholeWhereEveryPartOfAWeightIs) {
  ParallelPlan plan = testing::tiny_plan({});
  plan.model.hidden = plan.model.ffn = 256;
  plan.model.heads = plan.model.kv_heads = 4;
  plan.model.head_dim = 64;
  EXPECT_FALSE(cuts_tiles(make_model_graph(plan), tile_side(ScaleRecipe::Blockwise), 1));
  EXPECT_FALSE(cuts_tiles(make_model_graph(plan), tile_side(ScaleRecipe::Blockwise), 2));
  EXPECT_TRUE(cuts_tiles(make_model_graph(plan), tile_side(ScaleRecipe::Blockwise), 4));
  EXPECT_FALSE(cuts_tiles(make_model_graph(plan), tile_side(ScaleRecipe::Mx), 4));
  plan.model.kv_heads = 2;  // keys of one head on each: 64 rows
  EXPECT_TRUE(cuts_tiles(make_model_graph(plan), tile_side(ScaleRecipe::Blockwise), 2));
}

}  // namespace
}  // namespace sim
