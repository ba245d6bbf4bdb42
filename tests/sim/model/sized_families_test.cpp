#include <gmock/gmock.h>

#include "class_configs.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(SizedFamilies, KeysAreDoubledUnderAWindow) {
  const ModelConfig config = class_config("mimo_v2_flash");
  EXPECT_EQ(sizes_of(config, 0).kv_heads, 4);
  EXPECT_EQ(sizes_of(config, 1).kv_heads, 8);
  EXPECT_EQ(sizes_of(config, 5).kv_heads, 4) << "each sixth block sees all";
  EXPECT_EQ(config.value_dim, 128);
  EXPECT_EQ(rotary_width(config), 64);
}

TEST(SizedFamilies, TurnsDifferByKindOfBlock) {
  const ModelConfig config = class_config("laguna");
  EXPECT_EQ(config.rope_theta, 500000);
  EXPECT_EQ(config.local_rope_theta, 10000);
  EXPECT_EQ(rotary_width(in_block(config, 0)), 64);
  EXPECT_EQ(rotary_width(in_block(config, 1)), 128);
}

// The table tells a word that is left out.
TEST(SizedFamilies, APlantedFaultIsSeenInTheNumber) {
  const auto differs = [](const char* family, void (*plant)(ModelConfig&)) {
    ModelConfig config = class_config(family);
    const std::int64_t right = num_parameters(make_model_graph(config, {1}));
    plant(config);
    return num_parameters(make_model_graph(config, {1})) != right;
  };
  for (const char* family : {"laguna", "mimo_v2_flash", "openelm", "nemotron-nas"})
    EXPECT_TRUE(differs(family, [](ModelConfig& c) { c.sizes.clear(); })) << family;
  EXPECT_TRUE(differs("mimo_v2_flash", [](ModelConfig& c) { c.value_dim = 0; }));
  EXPECT_TRUE(differs("mimo_v2_flash", [](ModelConfig& c) { c.sinks_in_windows = false; }));
  EXPECT_TRUE(differs("laguna", [](ModelConfig& c) { c.head_gate = false; }));
}

}  // namespace
}  // namespace sim
