#include "sim/recipe/network.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Network, DifferencesOfStructureAndOthers) {
  ModelConfig other = testing::tiny_llama();
  other.ffn = 320;
  other.rope_theta = 5e5;
  const NetworkDifferences found = network_differences(other, testing::tiny_llama());
  EXPECT_THAT(found.structure, ElementsAre("intermediate_size is 320, 160 in the model"));
  EXPECT_THAT(found.others, ElementsAre(HasSubstr("rope_theta is 500000")));
}

TEST(Network, AFamilyIsFoundForIt) {
  ModelConfig network = testing::tiny_llama();
  network.model_type = "";
  EXPECT_EQ(as_a_family_says_it(network).model.model_type, "llama");
  network = testing::tiny_gpt2();
  network.model_type = "";
  EXPECT_EQ(as_a_family_says_it(network).model.model_type, "gpt2");
  EXPECT_THAT(as_a_family_says_it(network).lost.structure, IsEmpty());
}

TEST(Network, WhatNoFamilySaysIsTold) {
  ModelConfig network = testing::tiny_gpt2();
  network.norm = Norm::RmsNorm;
  Draft draft;
  settle_network(draft, network, {});
  EXPECT_THAT(testing::text_of(draft.lost), HasSubstr("norm is RMSNorm, LayerNorm in the model"));
  EXPECT_EQ(draft.plan.model.hidden, network.hidden);
}

// A script of its own makes the network of --model: a window that its options have is told, one that they lack is its code's.
TEST(Network, WordsOfOptionsBesideTheNetworkOfCode) {
  const auto told = [](std::int64_t in_file, std::int64_t in_model) {
    ModelConfig network = testing::tiny_llama(), model = network;
    network.window = in_file, model.window = in_model;
    Draft draft;
    draft.said[std::string(kNetworkOfCode)] = "mine.py";
    RecipeContext context;
    context.model = model;
    settle_network(draft, network, context);
    EXPECT_EQ(draft.plan.model.window, in_model);
    return testing::text_of(draft.lost);
  };
  EXPECT_THAT(told(16, 0), HasSubstr("sliding_window is 16, 0 in the model: the plan has that of the model"));
  EXPECT_EQ(told(0, 16), "");
}

TEST(Network, TheVocabularyIsAskedFor) {
  ModelConfig network = testing::tiny_gpt2();
  network.vocabulary = 0;
  Draft draft;
  settle_network(draft, network, {});
  EXPECT_THAT(testing::text_of(draft.wrong), HasSubstr("--vocabulary"));
  RecipeContext with_vocabulary;
  with_vocabulary.vocabulary = 1000;
  settle_network(draft, network, with_vocabulary);
  EXPECT_EQ(draft.plan.model.vocabulary, 1000);
  Draft none;
  settle_network(none, std::nullopt, {});
  EXPECT_THAT(testing::text_of(none.wrong), HasSubstr("--model: is not given"));
}

}  // namespace
}  // namespace sim
