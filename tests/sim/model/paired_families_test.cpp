#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "class_configs.h"
#include "sim/model/model_graph.h"
#include "tests/sim/model/pairs.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

ModelConfig small(const char* family, std::int64_t buckets = 0) {
  return small_pair(family, {.layers = 2, .decoder_layers = 1, .relative_buckets = buckets});
}

const Operator& named(const Layer& layer, std::string_view name) {
  for (const SegmentGraph& segment : layer.segments)
    for (const Operator& op : segment.operators)
      if (op.name == name) return op;
  throw std::runtime_error("no operator " + std::string(name));
}

bool has_parameter(const Layer& layer, std::string_view name) { return std::ranges::count(layer.parameters, name, &Parameter::name) > 0; }

TEST(PairedFamilies, DecodersHaveTwoBlocksALayer) {
  const ModelGraph model = make_model_graph(small("bart"), {1});
  ASSERT_EQ(model.num_blocks(), 4);
  const auto segments = [&](int layer) { return model.layer(LayerIndex(layer)).segments.size(); };
  EXPECT_THAT((std::vector{segments(1), segments(2), segments(3), segments(4)}), ElementsAre(2, 2, 1, 2));
  EXPECT_EQ(model.layer(LayerIndex(1)).segments.front().tokens(), Tokens::Source);
  EXPECT_EQ(model.layer(LayerIndex(3)).segments.front().tokens(), Tokens::Target);
  EXPECT_FALSE(model.layer(LayerIndex(3)).segments.front().reads_source());
  EXPECT_TRUE(model.layer(LayerIndex(4)).segments.front().reads_source());
  EXPECT_TRUE(has_parameter(model.layer(LayerIndex(0)), "embedding.source_positions.weight"));
  EXPECT_TRUE(has_parameter(model.layer(LayerIndex(4)), "layers.3.attention.keys.weight"));
}

// Of 24 tokens 16 are the source's.
TEST(PairedFamilies, WorkIsOfTheTokensWhoseRowsAreMade) {
  ModelConfig config = small("t5");
  config.source_tokens = 16;
  const ModelGraph model = make_model_graph(config, {1});
  const ShardShape shape{.microbatch = 3, .sequence = 24};
  const auto flops = [&](int layer, const char* name) { return forward_flops(named(model.layer(LayerIndex(layer)), name), config, shape); };
  EXPECT_EQ(flops(1, "up"), Flops(2.0 * 3 * 16 * 64 * 128));
  EXPECT_EQ(flops(4, "up"), Flops(2.0 * 3 * 8 * 64 * 128));
  EXPECT_EQ(flops(4, "query"), Flops(2.0 * 3 * 8 * 64 * 64));
  EXPECT_EQ(flops(4, "keys"), Flops(2.0 * 3 * 16 * 64 * 128));
  EXPECT_EQ(flops(1, "attention"), Flops(4.0 * 3 * 16 * 16 * 64));
  EXPECT_EQ(flops(3, "attention"), Flops(4.0 * 3 * (8 * 9 / 2) * 64));
  EXPECT_EQ(flops(4, "attention"), Flops(4.0 * 3 * 8 * 16 * 64));
  EXPECT_EQ(flops(5, "projection"), Flops(2.0 * 3 * 8 * 64 * 256));
}

// Queries of 8 tokens, keys and values of 16; a row of output for each query.
TEST(PairedFamilies, AttentionReadsKeysOfTheSource) {
  ModelConfig config = small("t5");
  config.source_tokens = 16;
  const ModelGraph model = make_model_graph(config, {1});
  const Operator& scores = named(model.layer(LayerIndex(4)), "attention");
  EXPECT_EQ(forward_bytes(scores, config, {.microbatch = 1, .sequence = 24}, Bytes(2)), Bytes(2 * (8 * 64 + 16 * 128 + 8 * 64)));
  EXPECT_EQ(forward_bytes(scores, config, {.microbatch = 1, .sequence = 24, .tensor = 4}, Bytes(2)),
            Bytes(2 * (8 * 64 + 16 * 128 + 8 * 64) / 4));
}

TEST(PairedFamilies, FirstBlocksHoldBiasesByDistance) {
  const ModelGraph model = make_model_graph(small("t5", 32), {1});
  for (int layer = 1; layer <= 4; ++layer)
    EXPECT_EQ(std::ranges::any_of(model.layer(LayerIndex(layer)).parameters,
                                  [](const Parameter& one) { return one.name.ends_with("attention.distances.weight"); }),
              layer == 1 || layer == 3);
}

// The encoder's last block ends with a norm, though others have it in front.
TEST(PairedFamilies, TheEncoderEndsWithItsNorm) {
  const ModelGraph model = make_model_graph(small("mbart"), {1});
  EXPECT_FALSE(has_parameter(model.layer(LayerIndex(1)), "layers.0.mlp.norm_behind.weight"));
  EXPECT_TRUE(has_parameter(model.layer(LayerIndex(2)), "layers.1.mlp.norm_behind.weight"));
  EXPECT_EQ(named(model.layer(LayerIndex(2)), "norm_behind").part, model.layer(LayerIndex(2)).segments.back().last_core() + 1);
}

TEST(PairedFamilies, ModelFlopsCountEachStacksTokens) {
  ModelConfig config = small("bart");
  config.source_tokens = 16;
  const ModelGraph model = make_model_graph(config, {1});
  const double attention = 4 * 64 * 64, source = attention + 2 * 64 * 128, pairs = 2 * 16 * 16 + 8 * 8 + 8 * 16;
  const double weights = 16 * 2 * source + 8 * (attention + 2 * 64 * 64 + 2 * 64 * 128) + 16 * 2 * 64 * 64 + 8 * 64 * 256;
  EXPECT_EQ(model_flops(model, {.global_batch = 5, .sequence = 24}), Flops(5 * (6 * weights + 12 * pairs * 64)));
}

// T5 has one table a stack; UMT5 one in each attention of a stack to itself.
TEST(PairedFamilies, TablesOfDistances) {
  const auto tables = [](const char* family) {
    std::int64_t count = 0;
    for (const Layer& layer : make_model_graph(class_config(family), {1}).layers)
      for (const Parameter& parameter : layer.parameters) count += parameter.name.ends_with("attention.distances.weight") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(tables("t5"), 2);
  EXPECT_EQ(tables("umt5"), 8 + 8);
}

// Blocks of the encoder see a few rows to both sides; others are T5's.
TEST(PairedFamilies, WindowsOfTheEncoder) {
  ModelConfig config = class_config("longt5", R"({"local_radius": 3})");
  config.source_tokens = 16;
  EXPECT_EQ(config.window, 7);
  EXPECT_EQ(window_of(config, config.encoder->layers), 0) << "the decoder sees all";
  const ModelGraph model = make_model_graph(config, {1});
  const auto flops = [&](std::int64_t layer) {
    return forward_flops(named(model.layer(LayerIndex(static_cast<std::int32_t>(layer))), "attention"), config,
                         {.microbatch = 1, .sequence = 24});
  };
  const double width = 512;
  EXPECT_EQ(flops(1), Flops(4.0 * width * (16 * 7 - 2 * (1 + 2 + 3))));
  EXPECT_EQ(flops(config.encoder->layers + 1), Flops(4.0 * width * 8 * 9 / 2));
  EXPECT_EQ(flops(config.encoder->layers + 2), Flops(4.0 * width * 8 * 16));
  EXPECT_THROW(class_config("longt5", R"({"encoder_attention_type": "transient-global"})"), InputError);
}

// Both tie their head; T5 and UMT5 divide what it reads by the root of the width, mT5 does not.
TEST(PairedFamilies, FactorsOfTiedHeads) {
  EXPECT_EQ(class_config("t5").logit_factor, 1 / std::sqrt(512.0));
  EXPECT_EQ(class_config("umt5").logit_factor, 1 / std::sqrt(512.0));
  EXPECT_EQ(class_config("mt5").logit_factor, 1);
}

TEST(PairedFamilies, SmallBlenderbotAddsPositionsBehindItsNorm) {
  for (const char* family : {"blenderbot-small", "blenderbot", "bart", "mbart"})
    EXPECT_EQ(class_config(family).encoder->late_positions, std::string_view(family) == "blenderbot-small") << family;
}

// Of 1948 places 1500 are of sound: two convolutions over three frames each, the first at every one of twice as many.
TEST(PairedFamilies, SoundIsConvolvedIntoPlaces) {
  const ModelConfig config = class_config("whisper");
  const ModelGraph model = make_model_graph(config, {1});
  const Layer& first = model.layer(LayerIndex(0));
  const ShardShape shape{.microbatch = 2, .sequence = 1948};
  EXPECT_EQ(forward_flops(named(first, "first_frames"), config, shape), Flops(2.0 * 2 * 3000 * 240 * 384));
  EXPECT_EQ(forward_flops(named(first, "second_frames"), config, shape), Flops(2.0 * 2 * 1500 * 3 * 384 * 384));
  EXPECT_EQ(named(first, "tokens").tokens, Tokens::Target);
  EXPECT_EQ(named(first, "positions").inputs, 448);
  EXPECT_EQ(first.segments.front().tokens(), Tokens::All);
  EXPECT_FALSE(has_parameter(first, "embedding.source_positions.weight"));
  EXPECT_EQ(tokens_in(Tokens::Target, config, 1948), 448);
  const ModelConfig large =
      class_config("whisper", R"({"d_model": 1280, "encoder_layers": 32, "decoder_layers": 32, "encoder_attention_heads": 20,
      "decoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "num_mel_bins": 128, "vocab_size": 51866})");
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(large, {1}))) / 1e9, 1.54, 0.01) << "whisper-large-v3";
}

}  // namespace
}  // namespace sim
