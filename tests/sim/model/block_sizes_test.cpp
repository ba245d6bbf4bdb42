#include "sim/model/block_sizes.h"

#include <gmock/gmock.h>

#include "configs.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

// Three blocks of hidden 16: the last one has half the heads, and a wider feed-forward.
ModelConfig with_sizes() {
  ModelConfig config = small_llama();
  config.sizes = {{4, 2, 4, 40}, {4, 2, 4, 40}, {2, 1, 8, 64}};
  return config;
}

TEST(BlockSizes, WithoutAnyAllBlocksAreAlike) {
  const BlockSizes all{4, 2, 4, 40};
  EXPECT_EQ(sizes_of(small_llama(), 2), all);
  EXPECT_THAT(different_sizes(small_llama()), ElementsAre(all));
  EXPECT_EQ(in_block(small_llama(), 1), small_llama());
}

TEST(BlockSizes, EachBlockHasItsOwn) {
  const BlockSizes most{4, 2, 4, 40}, last{2, 1, 8, 64};
  EXPECT_EQ(sizes_of(with_sizes(), 1), most);
  EXPECT_EQ(sizes_of(with_sizes(), 2), last);
  EXPECT_EQ(sizes_of(with_sizes(), 3), last) << "a prediction of further tokens is as the last block";
  EXPECT_THAT(different_sizes(with_sizes()), ElementsAre(most, last));
  EXPECT_EQ(in_block(with_sizes(), 2).ffn, 64);
}

TEST(BlockSizes, OperatorsAndParametersAreOfTheBlock) {
  const ModelGraph model = make_model_graph(with_sizes(), {1});
  EXPECT_EQ(model.kind(LayerIndex(1)), model.kind(LayerIndex(2)));
  EXPECT_NE(model.kind(LayerIndex(2)), model.kind(LayerIndex(3)));
  const Heads heads = model.layer(LayerIndex(3)).segments.front().attention()->heads;
  EXPECT_EQ(heads.queries, 2);
  EXPECT_EQ(heads.keys, 1);
  EXPECT_EQ(heads.key_width, 8);
  const std::int64_t table = 50 * 16, block = 16 * 4 * (2 * 4 + 2 * 2) + 3 * 16 * 40 + 2 * 16,
                     last = 16 * 8 * (2 * 2 + 2) + 3 * 16 * 64 + 2 * 16;
  EXPECT_EQ(num_parameters(model), 2 * table + 2 * block + last + 16);
}

// The FLOPs of a step are those of three networks, a third of each.
TEST(BlockSizes, FlopsOfAStepAddUp) {
  const StepSize size{.global_batch = 2, .sequence = 8};
  const auto flops = [&](const ModelConfig& config) { return model_flops(make_model_graph(config, {1}), size).value(); };
  ModelConfig most = in_block(with_sizes(), 0), last = in_block(with_sizes(), 2);
  most.layers = 2, last.layers = 1;
  ModelConfig none = most;
  none.layers = 0;
  EXPECT_DOUBLE_EQ(flops(with_sizes()), flops(most) + flops(last) - flops(none));
}

TEST(BlockSizes, ValuesOfAnotherWidthThanKeys) {
  ModelConfig config = small_llama();
  config.value_dim = 6;
  const AttentionWidths widths = attention_widths(config);
  EXPECT_EQ(widths.key, 8);
  EXPECT_EQ(widths.value, 12);
  EXPECT_EQ(widths.output, 24);
  config.attention_gate = true;
  EXPECT_EQ(heads_of(config).gate, 24);
  config.head_gate = true;
  EXPECT_EQ(heads_of(config).gate, 4);
}

TEST(BlockSizes, SinksAndTurnsUnderAWindowAlone) {
  ModelConfig config = small_llama();
  config.window = 4, config.windowed = {true, false, true};
  config.sinks = config.sinks_in_windows = true;
  config.rotary_share = 0.5, config.local_rotary_share = 1;
  EXPECT_TRUE(in_block(config, 0).sinks);
  EXPECT_FALSE(in_block(config, 1).sinks);
  EXPECT_EQ(in_block(config, 0).rotary_share, 1);
  EXPECT_EQ(in_block(config, 1).rotary_share, 0.5);
}

}  // namespace
}  // namespace sim
