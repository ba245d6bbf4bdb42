#include "sim/model/model_graph.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "configs.h"

namespace sim {
namespace {

std::int64_t published(const std::string& name, VocabularyMultiple multiple = {1}) {
  return num_parameters(make_model_graph(load_model_config("profiles/models/" + name + ".json"), multiple));
}

TEST(ModelGraph, CountsParametersAsPublished) {
  EXPECT_EQ(published("gpt2"), 124'439'808);
  EXPECT_EQ(published("gpt2-medium"), 354'823'168);
  EXPECT_EQ(published("gpt2-xl"), 1'557'611'200);
  EXPECT_EQ(published("llama-2-7b"), 6'738'415'616);
  EXPECT_EQ(published("llama-3-8b"), 8'030'261'248);
  EXPECT_EQ(published("llama-3-70b"), 70'553'706'496);
  EXPECT_NEAR(static_cast<double>(published("gpt3-175b")), 174.6e9, 0.05e9);
}

TEST(ModelGraph, PaddingRowsAreNoParameters) {
  for (const char* name : {"gpt2", "llama-2-7b"}) EXPECT_EQ(published(name, {1000}), published(name));
  EXPECT_EQ(make_model_graph(small_gpt2(), {64}).padded_vocabulary, 64);
  EXPECT_EQ(make_model_graph(small_gpt2(), {50}).padded_vocabulary, 50);
}

TEST(ModelGraph, LayersStandInOrder) {
  const ModelGraph model = make_model_graph(small_gpt2(), {8});
  ASSERT_EQ(model.layers.size(), 5u);
  EXPECT_EQ(model.num_blocks(), 3);
  EXPECT_EQ(model.head(), LayerIndex(4));
  EXPECT_EQ(model.layers[0].segments[0].name, Operation::Embedding);
  EXPECT_EQ(model.layer(LayerIndex(1)).parameters[0].name, "layers.0.attention.norm.weight") << "block 1 is layers.0";
  EXPECT_EQ(model.layer(model.head()).segments[0].name, Operation::Head);
}

TEST(ModelGraph, EqualLayersAreOfOneKind) {
  const ModelGraph model = make_model_graph(small_gpt2(), {8});
  EXPECT_EQ(model.firsts, (std::vector{LayerIndex(0), LayerIndex(1), LayerIndex(4)}));
  for (LayerIndex block{1}; block < model.head(); ++block) EXPECT_EQ(model.kind(block), LayerKind(1));
  EXPECT_EQ(model.kind(model.head()), LayerKind(2));
}

TEST(ModelGraph, NamesAreUniqueAndBlocksAddUp) {
  for (const ModelConfig& config : {small_gpt2(), small_llama()}) {
    const ModelGraph model = make_model_graph(config, {8});
    std::set<std::string> names;
    for (const Layer& layer : model.layers)
      for (const Parameter& parameter : layer.parameters) {
        EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
        EXPECT_EQ(std::accumulate(parameter.row_blocks.begin(), parameter.row_blocks.end(), std::int64_t{0}), parameter.rows)
            << parameter.name;
      }
  }
}

TEST(ModelGraph, TiedWeightStandsInTheEmbeddingOnly) {
  const auto has = [](const Layer& layer, const std::string& name) {
    for (const Parameter& parameter : layer.parameters)
      if (parameter.name == name) return true;
    return false;
  };
  ModelConfig config = small_gpt2();
  const ModelGraph tied = make_model_graph(config, {1});
  EXPECT_TRUE(has(tied.layers.front(), "embedding.tokens.weight"));
  EXPECT_FALSE(has(tied.layers.back(), "head.weight"));
  config.tied_embeddings = false;
  const ModelGraph untied = make_model_graph(config, {1});
  EXPECT_TRUE(has(untied.layers.back(), "head.weight"));
  EXPECT_EQ(num_parameters(untied) - num_parameters(tied), 50 * 16);
}

TEST(ModelGraph, ShardsOfParametersAddUp) {
  for (const Layer& layer : make_model_graph(small_llama(), {2}).layers)
    for (const Parameter& parameter : layer.parameters) {
      const std::int64_t whole = parameter.split == TensorSplit::None ? 2 * parameter.elements() : parameter.elements();
      EXPECT_EQ(2 * parameter.elements(2), whole) << parameter.name;
    }
}

// 72 L h^2 (1 + s / 6h + V / 12Lh) a token: Narayanan et al. 2021 without recomputation, for ffn = 4h.
TEST(ModelGraph, ModelFlopsAreThoseOfTheClosedForm) {
  const ModelGraph model = make_model_graph(load_model_config("profiles/models/gpt3-175b.json"), {128});
  const double L = 96, h = 12288, V = 50257, s = 2048, tokens = 1536 * 2048;
  EXPECT_NEAR(model_flops(model, {1536, 2048}).value() / (tokens * 72 * L * h * h * (1 + s / (6 * h) + V / (12 * L * h))), 1.0, 1e-12);
}

TEST(ModelGraph, ModelFlopsOfASmallNetworkExactly) {
  // a block: qkv 16 x 32, projection 16 x 16, up 16 x 80, down 40 x 16; three of them; head 16 x 50, without its padding
  const double weights = 3 * (16 * 32 + 16 * 16 + 16 * 80 + 40 * 16) + 16 * 50;
  EXPECT_EQ(model_flops(make_model_graph(small_llama(), {64}), {2, 8}), Flops(16 * (6 * weights + 12 * 3 * 16 * 8)));
}

}  // namespace
}  // namespace sim
