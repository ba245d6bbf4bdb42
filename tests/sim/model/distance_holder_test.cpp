#include "sim/model/distance_holder.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(DistanceHolder, IsTheFirstBlockOfAStack) {
  ModelConfig config;
  config.layers = 6;
  config.encoder = EncoderForm{.layers = 2, .decoder_layers = 2, .relative_buckets = 8};
  const LayerIndex none = LayerIndex::none(), encoder(1), decoder(3);
  const LayerIndex holders[] = {none, encoder, encoder, decoder, none, decoder, none, none};  // embedding, blocks, head
  for (std::int32_t layer = 0; layer < 8; ++layer) EXPECT_EQ(holder_of_distances(config, LayerIndex(layer)), holders[layer]) << layer;
  config.encoder->relative_buckets = 0;
  EXPECT_FALSE(holder_of_distances(config, LayerIndex(1)).exists());
}

}  // namespace
}  // namespace sim
