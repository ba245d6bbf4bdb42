#include "sim/model/frozen_parts.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"

namespace sim {
namespace {

ModelConfig blocks_of_gpt2() {
  ModelConfig config;
  config.model_type = "gpt2";
  config.layers = 4;
  config.hidden = 32;
  config.heads = config.kv_heads = 4;
  config.head_dim = 8;
  config.ffn = 128;
  config.vocabulary = 100;
  config.max_positions = 32;
  return config;
}

FrozenParts frozen_as(std::string_view text) {
  std::vector<Violation> wrong;
  FrozenParts frozen = parse_frozen_parts(text, wrong);
  EXPECT_TRUE(wrong.empty()) << text;
  return frozen;
}

ModelGraph graph_with(std::string_view text, ModelConfig config = blocks_of_gpt2()) {
  config.frozen = frozen_as(text);
  EXPECT_TRUE(frozen_violations(config).empty()) << text;
  return make_model_graph(config, {1});
}

std::int64_t frozen_elements(const ModelGraph& model) {
  std::int64_t elements = 0;
  for (const Layer& layer : model.layers)
    for (const Parameter& parameter : layer.parameters) elements += parameter.frozen ? parameter.elements() : 0;
  return elements;
}

TEST(FrozenParts, TheirTextReadsBack) {
  for (const std::string text : {"", "norms", "embedding,head,norms", "first 8", "attention,mlp first 2"})
    EXPECT_EQ(to_text(frozen_as(text)), text);
}

TEST(FrozenParts, WhatIsNoPartIsTold) {
  for (const std::string_view text : {"biases", "first", "first 0", "first x", "norms,layers"}) {
    std::vector<Violation> wrong;
    parse_frozen_parts(text, wrong);
    ASSERT_EQ(wrong.size(), 1u) << text;
    EXPECT_FALSE(wrong.front().remedy.empty()) << text;
  }
}

TEST(FrozenParts, EachParameterIsOfAPart) {
  ModelConfig config = blocks_of_gpt2();
  config.tied_embeddings = false;
  std::int64_t sum = 0;
  for (const std::string_view part : {"embedding", "head", "attention", "mlp"}) sum += frozen_elements(graph_with(part, config));
  EXPECT_EQ(sum, num_parameters(make_model_graph(config, {1})));
  EXPECT_GT(frozen_elements(graph_with("norms", config)), 0);
  EXPECT_EQ(frozen_elements(graph_with("embedding,attention,mlp", config)), frozen_elements(graph_with("first 4", config)));
}

TEST(FrozenParts, ABackwardEndsAtTheFirstLayerThatTrains) {
  using enum BackwardReach;
  const auto reach = [](const ModelGraph& model) {
    std::vector<BackwardReach> all;
    for (const Layer& layer : model.layers) all.push_back(layer.backward);
    return all;
  };
  EXPECT_THAT(reach(graph_with("first 2")), testing::ElementsAre(None, None, None, Ends, Passes, Passes));
  EXPECT_THAT(reach(graph_with("embedding")), testing::ElementsAre(None, Ends, Passes, Passes, Passes, Passes));
  EXPECT_THAT(reach(graph_with("norms,attention,mlp")), testing::Each(Passes)) << "the embedding is trained";
  EXPECT_THAT(reach(graph_with("")), testing::Each(Passes));
}

// Of a product three: forward, the gradient of what it read, that of its weight.
TEST(FrozenParts, WhatIsNotMadeIsNotCounted) {
  ModelConfig config = blocks_of_gpt2();
  config.tied_embeddings = false;
  const auto flops = [&](std::string_view text) {
    return model_flops(graph_with(text, config), {.global_batch = 1, .sequence = 8}).value();
  };
  EXPECT_LT(flops("mlp"), flops(""));
  EXPECT_LT(flops("first 2"), flops("attention"));
}

TEST(FrozenParts, WhatCannotBeIsRefusedWithARemedy) {
  const auto problem = [](std::string_view text, const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = blocks_of_gpt2();
    config.frozen = frozen_as(text);
    change(config);
    const std::vector<Violation> found = frozen_violations(config);
    return found.empty() || found.front().remedy.empty() ? std::string() : found.front().problem;
  };
  EXPECT_THAT(problem("norms", [](ModelConfig& config) { config.adapters = Adapters{}; }), testing::HasSubstr("adapters"));
  EXPECT_THAT(problem("head", [](ModelConfig& config) { config.tied_embeddings = true; }), testing::HasSubstr("table"));
  EXPECT_THAT(problem("first 9", [](ModelConfig&) {}), testing::HasSubstr("first 9 blocks of 4"));
  EXPECT_THAT(problem("embedding,head,attention,mlp", [](ModelConfig&) {}), testing::HasSubstr("nothing to train"));
}

}  // namespace
}  // namespace sim
