#include "sim/model/linear_layers.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "sim/model/model_layers.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

ModelConfig hybrid(LinearRule rule) {
  ModelConfig config = load_model_config("profiles/models/llama-3.1-8b.json");
  config.linear = LinearForm{.rule = rule, .heads = 64, .groups = 8, .key = 128, .value = 64};
  config.linear_layers.assign(32, true);
  config.linear_layers[3] = false;
  return config;
}

std::vector<std::string> names(const SegmentGraph& segment) {
  std::vector<std::string> found;
  for (const Operator& op : segment.operators) found.push_back(op.name);
  return found;
}

TEST(LinearLayers, AScanStandsInPlaceOfScores) {
  const ModelGraph model = make_model_graph(hybrid(LinearRule::GatedDelta), {1});
  EXPECT_THAT(names(model.layers[1].segments[0]),
              ElementsAre("norm", "linear_in", "convolution", "scan", "gated_norm", "linear_out", "residual"));
  EXPECT_EQ(model.layers[1].segments[0].name, Operation::LinearAttention);
  EXPECT_EQ(model.layers[4].segments[0].name, Operation::Attention);
  EXPECT_EQ(model.layers[1].segments[1].name, Operation::Mlp);
  EXPECT_EQ(model.firsts.size(), 4u) << "embedding, two kinds of blocks, head";
}

TEST(LinearLayers, TensorRanksHaveWholeHeads) {
  for (const LinearRule rule : {LinearRule::GatedDelta, LinearRule::StateSpace, LinearRule::ChannelDelta}) {
    const ModelConfig config = hybrid(rule);
    const Layer layer = block_layer(config, "x", block_form(config, 0));
    std::int64_t whole = 0, cut = 0;
    for (const Parameter& parameter : layer.parameters) {
      whole += parameter.elements();
      cut += parameter.elements(8);
      for (const std::int64_t block : parameter.row_blocks)
        EXPECT_TRUE(parameter.split != TensorSplit::Rows || block % 8 == 0) << parameter.name;
    }
    EXPECT_NEAR(static_cast<double>(whole) / static_cast<double>(cut), 8, 0.2) << "norms and narrow vectors alone are whole";
  }
}

TEST(LinearLayers, WorkOfARankIsItsPart) {
  const ModelConfig config = hybrid(LinearRule::StateSpace);
  const SegmentGraph segment = linear_segment(config);
  for (const Operator& op : segment.operators) {
    const ShardShape whole{.microbatch = 2, .sequence = 4096}, part{.microbatch = 2, .sequence = 4096, .tensor = 4};
    EXPECT_EQ(forward_flops(op, config, whole).value(),
              4 * forward_flops(op, config, part).value() * (op.split == TensorSplit::None ? 0.25 : 1))
        << op.name;
    if (op.kind != OperatorKind::Scan) continue;
    EXPECT_GT(forward_flops(op, config, whole).value(), 0);
    EXPECT_EQ(backward_flops(op, config, whole).value(), 2.5 * forward_flops(op, config, whole).value());
    EXPECT_GT(backward_bytes(op, config, whole, Bytes(2)), forward_bytes(op, config, whole, Bytes(2)));
  }
}

// Of 64 heads in 8 groups each of 4 context ranks scans 16, for all tokens: as much work as of its own tokens. Of 16 ranks every two share a group, of which
// both convolve and scan a copy.
TEST(LinearLayers, ContextRanksScanAPartOfTheHeads) {
  const ModelConfig config = hybrid(LinearRule::StateSpace);
  const ShardShape whole{.microbatch = 2, .sequence = 4096};
  const auto flops = [&](const Operator& op, std::int64_t context) {
    ShardShape part = whole;
    part.context = context;
    return static_cast<double>(context) * forward_flops(op, config, part).value() / forward_flops(op, config, whole).value();
  };
  const auto bytes = [&](const Operator& op, std::int64_t context) {
    ShardShape part = whole;
    part.context = context;
    return static_cast<double>(context * forward_bytes(op, config, part, Bytes(2)).value()) /
           static_cast<double>(forward_bytes(op, config, whole, Bytes(2)).value());
  };
  for (const Operator& op : linear_segment(config).operators) {
    EXPECT_EQ(op.of_scan, op.name == "convolution" || op.name == "scan" || op.name == "gated_norm") << op.name;
    if (!op.of_scan) continue;
    EXPECT_EQ(bytes(op, 4), 1) << op.name;
    const double copied = 64.0 * 64, groups = 2.0 * 8 * 128;
    if (op.name == "convolution") {
      EXPECT_DOUBLE_EQ(bytes(op, 16), (copied + 2 * groups) / (copied + groups));
    }
    if (op.kind == OperatorKind::Scan) {
      EXPECT_EQ(flops(op, 4), 1);
      EXPECT_GT(flops(op, 16), 1);
    }
  }
}

TEST(LinearLayers, HalvesStandAlone) {
  const ModelGraph model = make_model_graph(load_model_config("profiles/models/nemotron-h-8b.json"), {1});
  EXPECT_EQ(model.layers[1].segments.size(), 1u);
  EXPECT_EQ(model.layers[1].segments[0].name, Operation::LinearAttention);
  EXPECT_EQ(model.layers[2].segments.size(), 1u);
  EXPECT_EQ(model.layers[2].segments[0].name, Operation::Mlp);
  EXPECT_EQ(model.layers[8].segments[0].name, Operation::Attention);
  EXPECT_FALSE(model.layers[8].segments[0].has(OperatorKind::Rotary));
  EXPECT_EQ(model.firsts.size(), 5u) << "embedding, scan, feed-forward, attention, head";
}

// MFU counts scores where a block has them, and scans where it has none.
TEST(LinearLayers, ModelFlopsOfALongSampleAreFewer) {
  ModelConfig config = hybrid(LinearRule::GatedDelta);
  const auto flops = [&](std::int64_t sequence) {
    return model_flops(make_model_graph(config, {1}), {1, sequence}).value() / static_cast<double>(sequence);
  };
  const double growth = flops(32768) - flops(16384);
  EXPECT_NEAR(growth, 12.0 * 1 * 4096 * 16384, 1e-3 * growth) << "one block of 32 attends";
}

LinearForm of_channels(LinearRule rule) {
  return {.rule = rule, .heads = 64, .groups = 64, .key = 16, .value = 1, .step_rank = 8, .scan_norms = ScanNorms::Weighted};
}

TEST(LinearLayers, ChannelsAreScannedOrConvolved) {
  ModelConfig config = hybrid(LinearRule::Selective);
  config.linear = of_channels(LinearRule::Selective);
  EXPECT_THAT(names(linear_segment(config)),
              ElementsAre("norm", "linear_in", "convolution", "scan_in", "scan_norms", "step", "scan", "linear_out", "residual"));
  const SegmentGraph scanned = linear_segment(config);
  EXPECT_EQ(scanned.operators[3].outputs, 8 + 2 * 16);
  EXPECT_TRUE(scanned.operators[5].bias);
  config.linear = of_channels(LinearRule::ShortConvolution);
  EXPECT_THAT(names(linear_segment(config)),
              ElementsAre("norm", "linear_in", "gate_before", "convolution", "gate_behind", "linear_out", "residual"));
  EXPECT_EQ(linear_segment(config).name, Operation::LinearAttention);
}

// Attention, what is linear, and the feed-forward, in this order; the second reads what the first one's norm put out.
TEST(LinearLayers, AttentionStandsBesideAScan) {
  ModelConfig config = hybrid(LinearRule::StateSpace);
  config.linear->beside = true;
  config.linear->gate_norm = false;
  const Layer layer = block_layer(config, "x", block_form(config, 0));
  ASSERT_EQ(layer.segments.size(), 3u);
  EXPECT_EQ(layer.segments[0].name, Operation::Attention);
  EXPECT_THAT(names(layer.segments[1]), ElementsAre("linear_in", "convolution", "scan", "gated_norm", "linear_out", "residual"));
  const auto has = [&](const char* name) { return std::ranges::count(layer.parameters, name, &Parameter::name) > 0; };
  EXPECT_TRUE(has("x.attention.norm.weight") && has("x.attention.qkv.weight") && has("x.linear.in.weight"));
  EXPECT_FALSE(has("x.linear.norm.weight") || has("x.linear.gate_norm.weight"));
}

}  // namespace
}  // namespace sim
