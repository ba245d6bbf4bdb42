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

TEST(ScaledProducts, AShardAsksForWhatItHasAPartOf) {
  const Operator by_rows{OperatorKind::Linear, "up", 64, 256, TensorSplit::Rows},
      by_columns{OperatorKind::Linear, "down", 256, 64, TensorSplit::Columns},
      whole{OperatorKind::Linear, "whole", 64, 64, TensorSplit::None};
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  ASSERT_EQ(plan.shard_shape().tokens(), 32);
  const auto asked = [&](ScaleRecipe recipe, const Operator& op) {
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    return std::pair(asked_maxima(plan, op, ProductPass::Forward), asked_maxima(plan, op, ProductPass::Backward));
  };
  EXPECT_EQ(asked(ScaleRecipe::Tensorwise, by_rows), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(asked(ScaleRecipe::Tensorwise, by_columns), std::pair(std::int64_t{2}, std::int64_t{0}));
  EXPECT_EQ(asked(ScaleRecipe::Rowwise, by_rows), std::pair(std::int64_t{0}, std::int64_t{32 + 64}));
  EXPECT_EQ(asked(ScaleRecipe::Rowwise, by_columns), std::pair(std::int64_t{32 + 64}, std::int64_t{0}));
  EXPECT_EQ(asked(ScaleRecipe::Tensorwise, whole), std::pair(std::int64_t{0}, std::int64_t{0}));
  plan.mesh = {.context = 2};  // tokens are cut, and nothing else
  for (const Operator& op : {by_rows, by_columns, whole})
    EXPECT_EQ(asked(ScaleRecipe::Tensorwise, op), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(asked(ScaleRecipe::Rowwise, by_rows), std::pair(std::int64_t{64}, std::int64_t{256}));
}

// Each expert's product with the rows of each microbatch asks; those that tensor ranks do not cut ask for nothing.
TEST(ScaledProducts, ExpertsAskForEachOfTheirProducts) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 2, .expert = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  Operator down{OperatorKind::Linear, "down", 64, 32, TensorSplit::Columns};
  down.experts = 4;
  const auto asked = [&](ScaleRecipe recipe) {
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    return asked_maxima(plan, down, ProductPass::Forward);
  };
  EXPECT_EQ(asked(ScaleRecipe::Tensorwise), 4 * 2);
  EXPECT_EQ(asked(ScaleRecipe::Rowwise), 2 * plan.shard_shape().tokens() + 4 * 32);
  EXPECT_TRUE(agrees_on_scales(plan));
  plan.mesh.expert_tensor = 1;
  plan.mesh.expert = 4;
  EXPECT_EQ(asked(ScaleRecipe::Tensorwise), 0);
  EXPECT_FALSE(parts_of_microbatches(plan));
  plan.mesh.expert = 1;
  EXPECT_TRUE(parts_of_microbatches(plan)) << "a tensor rank's copy of an expert gets the rank's own tokens";
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
