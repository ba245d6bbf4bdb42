#include "sim/model/model_layers.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "configs.h"

namespace sim {
namespace {

std::string text(TensorSplit split) { return split == TensorSplit::Rows ? "rows" : split == TensorSplit::Columns ? "columns" : "whole"; }

// One line a parameter: name [rows, columns] split (blocks) initial value.
std::string picture(const Layer& layer) {
  std::ostringstream out;
  for (const Parameter& parameter : layer.parameters) {
    out << parameter.name << " [" << parameter.rows << ", " << parameter.columns << "] " << text(parameter.split) << " (";
    for (const std::int64_t block : parameter.row_blocks) out << " " << block;
    out << " ) ";
    if (parameter.initial == InitialValue::Normal)
      out << "normal " << parameter.deviation;
    else
      out << (parameter.initial == InitialValue::Zeros ? "zeros" : "ones");
    out << (parameter.weight_decay ? " decays\n" : "\n");
  }
  return out.str();
}

// One line an operator: name inputs -> outputs split, then the operators it feeds.
std::string picture(const SegmentGraph& segment) {
  std::ostringstream out;
  for (std::size_t at = 0; at < segment.operators.size(); ++at) {
    const Operator& op = segment.operators[at];
    out << op.name << " " << op.inputs << " -> " << op.outputs << " " << text(op.split) << (op.bias ? " +bias" : "") << " :";
    for (auto [edge, end] = boost::out_edges(at, segment.edges); edge != end; ++edge)
      out << " " << segment.operators[boost::target(*edge, segment.edges)].name;
    out << "\n";
  }
  return out.str();
}

TEST(ModelLayers, Gpt2Block) {
  EXPECT_EQ(picture(block_layer(small_gpt2(), "layers.3")),
            "layers.3.attention.norm.weight [16, 1] whole ( 16 ) ones\n"
            "layers.3.attention.norm.bias [16, 1] whole ( 16 ) zeros\n"
            "layers.3.attention.qkv.weight [48, 16] rows ( 16 16 16 ) normal 0.02 decays\n"
            "layers.3.attention.qkv.bias [48, 1] rows ( 16 16 16 ) zeros\n"
            "layers.3.attention.projection.weight [16, 16] columns ( 16 ) normal 0.00816497 decays\n"
            "layers.3.attention.projection.bias [16, 1] whole ( 16 ) zeros\n"
            "layers.3.mlp.norm.weight [16, 1] whole ( 16 ) ones\n"
            "layers.3.mlp.norm.bias [16, 1] whole ( 16 ) zeros\n"
            "layers.3.mlp.up.weight [64, 16] rows ( 64 ) normal 0.02 decays\n"
            "layers.3.mlp.up.bias [64, 1] rows ( 64 ) zeros\n"
            "layers.3.mlp.down.weight [16, 64] columns ( 16 ) normal 0.00816497 decays\n"
            "layers.3.mlp.down.bias [16, 1] whole ( 16 ) zeros\n");
  EXPECT_EQ(block_layer(small_gpt2(), "x").parameters[4].deviation, 0.02 / std::sqrt(6.0)) << "0.02 / sqrt(2 layers)";
}

TEST(ModelLayers, LlamaBlock) {
  EXPECT_EQ(picture(block_layer(small_llama(), "layers.0")),
            "layers.0.attention.norm.weight [16, 1] whole ( 16 ) ones\n"
            "layers.0.attention.qkv.weight [32, 16] rows ( 16 8 8 ) normal 0.02 decays\n"
            "layers.0.attention.projection.weight [16, 16] columns ( 16 ) normal 0.02 decays\n"
            "layers.0.mlp.norm.weight [16, 1] whole ( 16 ) ones\n"
            "layers.0.mlp.up.weight [80, 16] rows ( 40 40 ) normal 0.02 decays\n"
            "layers.0.mlp.down.weight [16, 40] columns ( 16 ) normal 0.02 decays\n");
}

TEST(ModelLayers, Gpt2Operators) {
  ModelConfig config = small_gpt2();
  const Layer plain = block_layer(config, "x");
  EXPECT_EQ(picture(plain.segments[0]),
            "norm 16 -> 16 whole : qkv residual\n"
            "qkv 16 -> 48 rows +bias : attention\n"
            "attention 48 -> 16 rows : projection\n"
            "projection 16 -> 16 columns +bias : residual\n"
            "residual 16 -> 16 whole :\n");
  config.residual_dropout = 0.1;
  EXPECT_EQ(picture(block_layer(config, "x").segments[1]),
            "norm 16 -> 16 whole : up residual\n"
            "up 16 -> 64 rows +bias : activation\n"
            "activation 64 -> 64 rows : down\n"
            "down 64 -> 16 columns +bias : dropout\n"
            "dropout 16 -> 16 whole : residual\n"
            "residual 16 -> 16 whole :\n");
}

TEST(ModelLayers, LlamaOperators) {
  const Layer layer = block_layer(small_llama(), "x");
  EXPECT_EQ(picture(layer.segments[0]),
            "norm 16 -> 16 whole : qkv residual\n"
            "qkv 16 -> 32 rows : rotary attention\n"
            "rotary 24 -> 24 rows : attention\n"
            "attention 32 -> 16 rows : projection\n"
            "projection 16 -> 16 columns : residual\n"
            "residual 16 -> 16 whole :\n");
  EXPECT_EQ(picture(layer.segments[1]),
            "norm 16 -> 16 whole : up residual\n"
            "up 16 -> 80 rows : activation\n"
            "activation 80 -> 40 rows : down\n"
            "down 40 -> 16 columns : residual\n"
            "residual 16 -> 16 whole :\n");
}

// What leads down is whole on every tensor rank, which sees its part of the gradient and, sequence parallel or not, all tokens.
TEST(ModelLayers, LatentAttention) {
  ModelConfig config = small_llama();
  config.attention = {.kind = AttentionKind::Latent, .q_lora = 6, .kv_lora = 5, .qk_nope = 4, .qk_rope = 2, .v_dim = 3};
  config.kv_heads = config.heads;
  const Layer layer = block_layer(config, "x");
  EXPECT_EQ(picture(layer.segments[0]),
            "norm 16 -> 16 whole : q_down residual\n"
            "q_down 16 -> 6 whole : q_norm\n"
            "q_norm 6 -> 6 whole : q_up\n"
            "q_up 6 -> 24 rows : kv_down\n"
            "kv_down 16 -> 7 whole : kv_norm\n"
            "kv_norm 5 -> 5 whole : kv_up\n"
            "kv_up 5 -> 28 rows : rotary attention\n"
            "rotary 16 -> 16 rows : attention\n"
            "attention 60 -> 12 rows : projection\n"
            "projection 12 -> 16 columns : residual\n"
            "residual 16 -> 16 whole :\n");
  for (const Operator& op : layer.segments[0].operators)
    EXPECT_EQ(op.gathered, op.name.ends_with("_down") || op.name.ends_with("_norm")) << op.name;
  for (const Parameter& parameter : layer.parameters)
    EXPECT_EQ(parameter.partial_gradient,
              parameter.name.find("_down") != std::string::npos || parameter.name.find("_norm") != std::string::npos)
        << parameter.name;
  const Operator& kv_norm = layer.segments[0].operators[5];
  EXPECT_EQ(forward_bytes(kv_norm, config, {.microbatch = 2, .sequence = 8, .tensor = 2, .sequence_parallel = true}, Bytes(4)),
            Bytes(4 * (2 * 16 * 5 + 5)));
}

TEST(ModelLayers, EmbeddingAndHead) {
  const Layer embedding = embedding_layer(small_gpt2(), 64);
  EXPECT_EQ(picture(embedding),
            "embedding.tokens.weight [64, 16] rows ( 64 ) normal 0.02 decays\n"
            "embedding.positions.weight [32, 16] whole ( 32 ) normal 0.02 decays\n");
  EXPECT_EQ(picture(embedding.segments[0]), "tokens 64 -> 16 rows : positions\npositions 32 -> 16 whole :\n");
  EXPECT_EQ(picture(embedding_layer(small_llama(), 64)), "embedding.tokens.weight [64, 16] rows ( 64 ) normal 0.02 decays\n");

  EXPECT_EQ(picture(head_layer(small_gpt2(), 64)),
            "head.norm.weight [16, 1] whole ( 16 ) ones\nhead.norm.bias [16, 1] whole ( 16 ) zeros\n");
  const Layer head = head_layer(small_llama(), 64);
  EXPECT_EQ(picture(head),
            "head.norm.weight [16, 1] whole ( 16 ) ones\n"
            "head.weight [64, 16] rows ( 64 ) normal 0.02 decays\n");
  EXPECT_EQ(picture(head.segments[0]),
            "norm 16 -> 16 whole : projection\nprojection 16 -> 64 rows : cross_entropy\ncross_entropy 64 -> 1 rows :\n");
}

TEST(ModelLayers, EdgesPointForward) {
  for (const ModelConfig& config : {small_gpt2(), small_llama()})
    for (const SegmentGraph& segment : block_layer(config, "x").segments) {
      for (auto [edge, end] = boost::edges(segment.edges); edge != end; ++edge)
        EXPECT_LT(boost::source(*edge, segment.edges), boost::target(*edge, segment.edges));
      EXPECT_EQ(boost::num_vertices(segment.edges), segment.operators.size());
    }
}

}  // namespace
}  // namespace sim
