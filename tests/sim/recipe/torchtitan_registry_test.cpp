#include "sim/recipe/torchtitan_registry.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(TorchtitanRegistry, ByFunctionAndByFlavor) {
  ASSERT_NE(torchtitan_function("llama3_70b"), nullptr);
  EXPECT_EQ(torchtitan_function("llama3_70b")->flavor, "70B");
  EXPECT_EQ(torchtitan_function(""), nullptr);
  EXPECT_EQ(torchtitan_flavor("llama3", "7T"), nullptr);
  EXPECT_EQ(torchtitan_flavor("qwen3", "70B"), nullptr);
}

TEST(TorchtitanRegistry, NetworksAreThoseOfTheirNames) {
  EXPECT_EQ(network_of(*torchtitan_flavor("llama3", "8B")).ffn, 14336);
  EXPECT_EQ(network_of(*torchtitan_flavor("llama3", "8B")).rope_scaling.kind, RopeScalingKind::Llama3);
  EXPECT_TRUE(network_of(*torchtitan_flavor("llama3", "1B")).tied_embeddings);
  EXPECT_EQ(network_of(*torchtitan_flavor("qwen3", "8B")).qk_norm, QkNorm::Heads);
}

}  // namespace
}  // namespace sim
