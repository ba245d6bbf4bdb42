#include "sim/model/joint_columns.h"

#include <gmock/gmock.h>

#include "configs.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

// Four heads of queries, two of keys, each four wide.
TEST(JointColumns, AreThoseThatABlockMakes) {
  ModelConfig config = small_llama();
  EXPECT_THAT(joint_blocks(heads_of(config)), ElementsAre(16, 8, 8));
  config.attention_gate = true;
  EXPECT_THAT(joint_blocks(heads_of(config)), ElementsAre(16, 8, 8, 16));
  config.head_gate = config.keys_as_values = true;
  EXPECT_THAT(joint_blocks(heads_of(config)), ElementsAre(16, 8, 4));
  config.shared_kv_layers = config.layers;
  EXPECT_THAT(joint_blocks(heads_of(config)), ElementsAre(16, 4));
}

TEST(JointColumns, NotAllHaveBiases) {
  ModelConfig config = small_llama();
  config.attention_gate = config.head_gate = true;
  EXPECT_THAT(joint_biases(config), ElementsAre(16, 8, 8, 4));
  config.softplus_gate = true;
  EXPECT_THAT(joint_biases(config), ElementsAre(16, 8, 8));
  config.key_bias = false;
  EXPECT_THAT(joint_biases(config), ElementsAre(16, 8));
}

}  // namespace
}  // namespace sim
