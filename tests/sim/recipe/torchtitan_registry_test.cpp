#include "sim/recipe/torchtitan_registry.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(TorchtitanRegistry, ByFunctionAndByFlavor) {
  ASSERT_NE(torchtitan_function("", "llama3_70b"), nullptr);
  EXPECT_EQ(torchtitan_function("llama3", "70B"), torchtitan_function("", "llama3_70b"));
  EXPECT_EQ(torchtitan_function("llama3", ""), nullptr);
  EXPECT_EQ(torchtitan_function("llama3", "7T"), nullptr);
}

TEST(TorchtitanRegistry, NetworksAreThoseOfTheirNames) {
  EXPECT_EQ(network_of(*torchtitan_function("llama3", "8B")).ffn, 14336);
  EXPECT_TRUE(network_of(*torchtitan_function("llama3", "1B")).tied_embeddings);
}

}  // namespace
}  // namespace sim
