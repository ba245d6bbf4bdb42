#include "sim/model/map_families.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"
#include "sim/model/model_words.h"

namespace sim {
namespace {

TEST(MapFamilies, AConfigurationIsASampleATokenAndLayersOfMaps) {
  const ModelConfig config = load_model_config("profiles/models/resnet-50.json");
  ASSERT_TRUE(config.convolution);
  EXPECT_EQ(config.layers, 4 + 11 * 16 + 3 - 2);
  EXPECT_EQ(config.vocabulary, 1000);
  EXPECT_EQ(config.max_positions, 1);
}

TEST(MapFamilies, TheWorkerIsToldOfThem) {
  const ModelConfig config = convolutional_model("unet", {.kind = ConvolutionKind::UShaped, .image = 64, .depth = 2}, 1);
  const auto words = model_words();
  EXPECT_TRUE(std::ranges::any_of(words, [&](const ModelWord& word) { return word.name == "convolution" && word.stands_in(config); }));
}

}  // namespace
}  // namespace sim
