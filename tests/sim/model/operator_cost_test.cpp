#include <gmock/gmock.h>

#include <cstdlib>

#include "configs.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

constexpr ShardShape kShape{.microbatch = 2, .sequence = 8};              // n = 16 tokens
constexpr ShardShape kHalf{.microbatch = 2, .sequence = 8, .tensor = 2};  // T = 2
constexpr ShardShape kSequence{.microbatch = 2, .sequence = 8, .tensor = 2, .sequence_parallel = true};
constexpr Bytes kTwo(2);

const Operator& op(const ModelGraph& model, LayerIndex layer, std::size_t segment, const std::string& name) {
  for (const Operator& candidate : model.layer(layer).segments[segment].operators)
    if (candidate.name == name) return candidate;
  throw std::out_of_range(name);
}

class OperatorCost : public testing::Test {
 protected:
  Flops flops(std::size_t segment, const std::string& name, const ShardShape& shape) const {
    return forward_flops(op(llama_, LayerIndex(1), segment, name), llama_.config, shape);
  }
  Bytes read_and_written(const ModelGraph& model, LayerIndex layer, std::size_t segment, const std::string& name,
                         const ShardShape& shape) const {
    return forward_bytes(op(model, layer, segment, name), model.config, shape, kTwo);
  }
  Bytes backward(const ModelGraph& model, LayerIndex layer, std::size_t segment, const std::string& name, const ShardShape& shape) const {
    return backward_bytes(op(model, layer, segment, name), model.config, shape, kTwo);
  }

  ModelGraph llama_ = make_model_graph(small_llama(), {64});
  ModelGraph gpt2_ = make_model_graph(small_gpt2(), {64});
  LayerIndex block_{1}, head_{4};
};

TEST_F(OperatorCost, MatrixProducts) {
  EXPECT_EQ(flops(0, "qkv", kShape), Flops(2 * 16 * 16 * 32));
  EXPECT_EQ(flops(0, "qkv", kHalf), Flops(2 * 16 * 16 * 16)) << "outputs are divided";
  EXPECT_EQ(flops(0, "projection", kHalf), Flops(2 * 16 * 8 * 16)) << "inputs are divided";
  EXPECT_EQ(flops(1, "up", kSequence), flops(1, "up", kHalf)) << "the sequence is gathered in front of it";
  EXPECT_EQ(backward_flops(op(llama_, block_, 0, "qkv"), llama_.config, kShape), Flops(2 * 2 * 16 * 16 * 32));
}

TEST_F(OperatorCost, CausalAttentionCountsPairs) {
  // 2 samples x 4 heads x (scores and values) x 2 x 4 wide x 8 * 9 / 2 pairs
  EXPECT_EQ(flops(0, "attention", kShape), Flops(2 * 4 * 2 * 2 * 4 * 36));
  EXPECT_EQ(flops(0, "attention", kHalf), Flops(2 * 4 * 2 * 2 * 4 * 36 / 2)) << "half of the heads";
  EXPECT_EQ(backward_flops(op(llama_, block_, 0, "attention"), llama_.config, kShape), flops(0, "attention", kShape) * 2.5);
}

TEST_F(OperatorCost, WhatIsNoProductCountsNoFlops) {
  for (const char* name : {"norm", "rotary", "residual"}) EXPECT_EQ(flops(0, name, kShape), Flops(0)) << name;
  EXPECT_EQ(flops(1, "activation", kShape), Flops(0));
}

TEST_F(OperatorCost, BytesOfLinear) {
  EXPECT_EQ(read_and_written(llama_, block_, 0, "qkv", kShape), kTwo * (16 * 16 + 16 * 32 + 16 * 32));
  EXPECT_EQ(read_and_written(gpt2_, block_, 0, "qkv", kShape), kTwo * (16 * 16 + 16 * 48 + 48 + 16 * 48)) << "and its bias";
  EXPECT_EQ(read_and_written(llama_, block_, 0, "projection", kHalf), kTwo * (16 * 8 + 8 * 16 + 16 * 16));
  // input gradient: dy, w -> dx; weight gradient: dy, x -> dw
  EXPECT_EQ(backward(llama_, block_, 0, "qkv", kShape), kTwo * ((16 * 32 + 16 * 32 + 16 * 16) + (16 * 32 + 16 * 16 + 16 * 32)));
  EXPECT_EQ(backward(gpt2_, block_, 0, "qkv", kShape) - kTwo * (2 * 16 * 48 + 2 * 16 * 16 + 2 * 16 * 48), kTwo * (16 * 48 + 48))
      << "dy -> db";
}

TEST_F(OperatorCost, BytesOfNorm) {
  EXPECT_EQ(read_and_written(llama_, block_, 0, "norm", kShape), kTwo * (256 + 16 + 256));
  EXPECT_EQ(read_and_written(gpt2_, block_, 0, "norm", kShape), kTwo * (256 + 32 + 256));
  EXPECT_EQ(read_and_written(llama_, block_, 0, "norm", kHalf), kTwo * (256 + 16 + 256)) << "the same on every tensor rank";
  EXPECT_EQ(read_and_written(llama_, block_, 0, "norm", kSequence), kTwo * (128 + 16 + 128)) << "a part of the sequence each";
  EXPECT_EQ(backward(llama_, block_, 0, "norm", kShape), kTwo * (3 * 256 + 16 + 16));
  EXPECT_EQ(backward(gpt2_, block_, 0, "norm", kShape), kTwo * (3 * 256 + 16 + 32));
}

TEST_F(OperatorCost, BytesOfAttentionAndRotary) {
  EXPECT_EQ(read_and_written(llama_, block_, 0, "attention", kShape), kTwo * (16 * 32 + 16 * 16));
  EXPECT_EQ(read_and_written(llama_, block_, 0, "attention", kHalf), kTwo * (16 * 16 + 16 * 8));
  EXPECT_EQ(backward(llama_, block_, 0, "attention", kShape), kTwo * (2 * 16 * 32 + 2 * 16 * 16));
  EXPECT_EQ(read_and_written(llama_, block_, 0, "rotary", kHalf), kTwo * (2 * 16 * 12));
  EXPECT_EQ(backward(llama_, block_, 0, "rotary", kShape), kTwo * (2 * 16 * 24));
}

TEST_F(OperatorCost, BytesOfActivationAndResidual) {
  EXPECT_EQ(read_and_written(llama_, block_, 1, "activation", kShape), kTwo * (16 * 80 + 16 * 40)) << "gate and up are read";
  EXPECT_EQ(backward(llama_, block_, 1, "activation", kHalf), kTwo * (16 * 20 + 2 * 16 * 40));
  EXPECT_EQ(read_and_written(llama_, block_, 1, "residual", kShape), kTwo * (3 * 256));
  EXPECT_EQ(backward(llama_, block_, 1, "residual", kSequence), kTwo * (3 * 128));
  ModelConfig config = small_gpt2();
  config.residual_dropout = 0.1;
  const ModelGraph model = make_model_graph(config, {1});
  EXPECT_EQ(read_and_written(model, block_, 0, "dropout", kSequence), kTwo * (2 * 128));
  EXPECT_EQ(backward(model, block_, 0, "dropout", kShape), kTwo * (2 * 256));
}

TEST_F(OperatorCost, BytesOfEmbeddingAndLoss) {
  constexpr Bytes kIds(16 * 8);
  const LayerIndex embedding(0);
  EXPECT_EQ(read_and_written(gpt2_, embedding, 0, "tokens", kShape), kIds + kTwo * (2 * 256));
  EXPECT_EQ(read_and_written(gpt2_, embedding, 0, "tokens", kHalf), kIds + kTwo * (2 * 256))
      << "every token is looked at on every tensor rank";
  EXPECT_EQ(read_and_written(gpt2_, embedding, 0, "positions", kShape), kTwo * (256 + 8 * 16 + 256)) << "a row a position, not a token";
  EXPECT_EQ(read_and_written(gpt2_, embedding, 0, "positions", kSequence), kTwo * (128 + 4 * 16 + 128));
  EXPECT_EQ(backward(gpt2_, embedding, 0, "tokens", kShape), kIds + kTwo * (3 * 256));
  EXPECT_EQ(backward(gpt2_, embedding, 0, "positions", kShape), kTwo * (256 + 2 * 8 * 16));
  EXPECT_EQ(read_and_written(gpt2_, head_, 0, "cross_entropy", kHalf), kIds + kTwo * (16 * 32 + 16));
  EXPECT_EQ(backward(gpt2_, head_, 0, "cross_entropy", kShape), kIds + kTwo * (2 * 16 * 64));
}

TEST_F(OperatorCost, BytesScaleWithTheElement) {
  const Operator& norm = op(llama_, block_, 0, "norm");
  EXPECT_EQ(forward_bytes(norm, llama_.config, kShape, Bytes(8)), 4 * forward_bytes(norm, llama_.config, kShape, kTwo));
}

// Pieces of a sample are samples: two and a half of them.
TEST_F(OperatorCost, ChunksAreSamples) {
  const ModelConfig config = small_llama();
  Operator scores{OperatorKind::Attention, "attention"};
  scores.window = 8;
  scores.chunked = true;
  EXPECT_EQ(attention_pairs(20, scores, config), 2 * 36 + 10);
  EXPECT_EQ(attention_pairs(8, scores, config), 36);
  scores.chunked = false;
  EXPECT_EQ(attention_pairs(20, scores, config), 20 * 8 - 28) << "a window that slides sees more";
}

// Windows that reach to both sides: counted pair by pair.
TEST_F(OperatorCost, AWindowToBothSidesHasItsPairs) {
  ModelConfig config = llama_.config;
  config.bidirectional = true;
  Operator scores{OperatorKind::Attention, "attention", 3, 1, TensorSplit::Rows, false};
  for (const std::int64_t window : {1, 5, 9, 64}) {
    scores.window = window;
    for (const std::int64_t sequence : {1, 4, 5, 20}) {
      std::int64_t pairs = 0;
      for (std::int64_t query = 0; query < sequence; ++query)
        for (std::int64_t key = 0; key < sequence; ++key) pairs += std::abs(query - key) <= (window - 1) / 2 ? 1 : 0;
      EXPECT_EQ(attention_pairs(static_cast<double>(sequence), scores, config), static_cast<double>(pairs)) << window << " of " << sequence;
    }
  }
}

}  // namespace
}  // namespace sim
