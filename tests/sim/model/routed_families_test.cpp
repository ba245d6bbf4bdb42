#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/family.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(RoutedFamilies, RoutersAndSharedExperts) {
  EXPECT_EQ(class_config("dots1").experts->score, RouterScore::Sigmoid);
  EXPECT_EQ(class_config("dots1").experts->shared_ffn, 2 * 1408);
  EXPECT_EQ(class_config("ernie4_5_moe").experts->score, RouterScore::Softmax);
  EXPECT_TRUE(class_config("ernie4_5_moe").experts->score_correction);
  EXPECT_EQ(class_config("ernie4_5_moe").experts->topk, 6);
  EXPECT_EQ(class_config("hy_v3").experts->scaling, 2.826);
  EXPECT_EQ(class_config("aria_text").experts->shared_ffn, 2 * 4096);
  EXPECT_EQ(class_config("minimax_m2", R"({"rotary_dim": 64})").rotary_share, 0.5);
  EXPECT_EQ(class_config("glm4_moe_lite").attention.kind, AttentionKind::Latent);
  EXPECT_TRUE(class_config("flint").sinks);
  EXPECT_TRUE(class_config("afmoe").attention_gate);
}

// One by one, by the first and the last of them, or by a list that says the same of every layer.
TEST(RoutedFamilies, LayersWithExperts) {
  EXPECT_EQ(class_config("glm4_moe_lite").experts->first_dense_layers, 1);
  const ModelConfig mixed =
      class_config("hy_v3", R"({"mlp_layer_types": ["dense", "dense", "sparse", "sparse", "dense", "sparse", "sparse", "sparse"]})");
  EXPECT_EQ(mixed.experts->first_dense_layers, 2);
  EXPECT_THAT(mixed.experts->dense_layers, ElementsAre(4));
  EXPECT_THROW(class_config("hy_v3", R"({"mlp_layer_types": ["thin"]})"), InputError);
  EXPECT_THAT(class_config("ernie4_5_moe", R"({"moe_layer_end_index": 5})").experts->dense_layers, ElementsAre(6, 7));
  EXPECT_TRUE(class_config("ernie4_5_moe", R"({"moe_layer_end_index": -1})").experts->dense_layers.empty());
  EXPECT_EQ(class_config("hunyuan_v1_moe", R"({"moe_topk": [4, 4, 4, 4, 4, 4, 4, 4]})").experts->topk, 4);
}

}  // namespace
}  // namespace sim
