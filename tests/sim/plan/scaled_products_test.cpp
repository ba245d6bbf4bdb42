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
