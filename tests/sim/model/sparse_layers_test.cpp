#include "sim/model/sparse_layers.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace sim {
namespace {

using ::testing::ElementsAre;

ModelConfig sparse_network(const std::string& name) { return load_model_config("profiles/models/" + name + ".json"); }

const Operator& named(const SegmentGraph& segment, std::string_view name) {
  return *std::ranges::find(segment.operators, name, &Operator::name);
}

TEST(SparseLayers, TheIndexerStandsInFrontOfAttention) {
  const ModelGraph model = make_model_graph(sparse_network("deepseek-v3.2"), {1});
  const SegmentGraph& attention = model.layers[1].segments[0];
  std::vector<std::string> names;
  for (const Operator& op : attention.operators) names.push_back(op.name);
  EXPECT_THAT(names, ElementsAre("norm", "q_down", "q_norm", "q_up", "kv_down", "kv_norm", "kv_up", "index_q", "index_k", "index_k_norm",
                                 "index_weights", "rotary", "index_rotary", "indexer", "attention", "projection", "residual"));
  EXPECT_EQ(named(attention, "index_q").outputs, 64 * 128);
  EXPECT_EQ(named(attention, "index_q").inputs, 1536);
  EXPECT_TRUE(named(attention, "indexer").modules.has(Module::CoreAttention));
}

// 13,959,424 numbers a layer beside DeepSeek-V3's: three products, weight and bias of the key's norm.
TEST(SparseLayers, ItsParametersAreWholeOnEveryTensorRank) {
  const ModelGraph model = make_model_graph(sparse_network("deepseek-v3.2"), {1}),
                   dense = make_model_graph(sparse_network("deepseek-v3"), {1});
  EXPECT_EQ(num_parameters(model) - num_parameters(dense), 61 * (1536 * 8192 + 7168 * 128 + 2 * 128 + 7168 * 64));
  std::int64_t found = 0;
  for (const Parameter& parameter : model.layers[1].parameters) {
    if (parameter.name.find("index_") == std::string::npos) continue;
    ++found;
    EXPECT_EQ(parameter.split, TensorSplit::None) << parameter.name;
    EXPECT_TRUE(parameter.partial_gradient) << parameter.name;
  }
  EXPECT_EQ(found, 5);
}

// Nothing of the stream's gradient comes from it: products have the gradient of their weights alone.
TEST(SparseLayers, ItHandsNoGradientBack) {
  const ModelConfig config = sparse_network("deepseek-v3.2");
  const ShardShape shape{1, 4096};
  for (const Operator& op : index_products(config)) {
    if (op.kind != OperatorKind::Linear) continue;
    EXPECT_TRUE(op.detached) << op.name;
    EXPECT_EQ(backward_flops(op, config, shape).value(), forward_flops(op, config, shape).value()) << op.name;
  }
  const Operator scores = index_scores(config);
  EXPECT_GT(forward_flops(scores, config, shape).value(), 0);
  EXPECT_GT(forward_bytes(scores, config, {1, 65536}, Bytes(2)), backward_bytes(scores, config, {1, 65536}, Bytes(2)))
      << "scores of all tokens are moved forward alone";
  EXPECT_EQ(forward_flops(scores, config, {1, 4096, 8}).value(), forward_flops(scores, config, shape).value())
      << "on each of 8 tensor ranks";
}

TEST(SparseLayers, TheSameKeysNameAnotherFamily) {
  const ModelConfig glm = sparse_network("glm-5");
  EXPECT_EQ(glm.attention.indexer, (Indexer{32, 128, 2048}));
  EXPECT_EQ(glm.attention.shared_key(), 576);
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(glm, {1}))), 744e9, 1e9) << "arXiv 2602.15763";
  EXPECT_EQ(model_config_from_json(to_json(glm), "again"), glm);
}

// MFU counts chosen tokens, and the scores of all.
TEST(SparseLayers, ModelFlopsOfALongSampleGrowWithItsScores) {
  const ModelGraph model = make_model_graph(sparse_network("deepseek-v3.2"), {1});
  const auto flops = [&](std::int64_t sequence) { return model_flops(model, {1, sequence}).value() / static_cast<double>(sequence); };
  EXPECT_NEAR(flops(65536) - flops(32768), 61 * 2.0 * 64 * 128 * 32768, 1e6);
}

}  // namespace
}  // namespace sim
