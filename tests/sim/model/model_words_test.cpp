#include "sim/model/model_words.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string_view> words_in(const std::string& name) {
  const ModelConfig config = load_model_config("profiles/models/" + name + ".json");
  std::vector<std::string_view> words;
  for (const ModelWord& word : model_words())
    if (word.stands_in(config)) words.push_back(word.name);
  return words;
}

TEST(ModelWords, PlainNetworksHaveNone) {
  for (const char* name : {"gpt2", "llama-3.1-8b", "qwen2.5-7b", "mixtral-8x7b", "deepseek-moe-16b", "deepseek-v2-lite", "kimi-k2"})
    EXPECT_THAT(words_in(name), IsEmpty()) << name;
}

TEST(ModelWords, OthersHaveTheirOwn) {
  EXPECT_THAT(words_in("qwen3-8b"), ElementsAre("qk_norm"));
  EXPECT_THAT(words_in("qwen3-next-80b-a3b"),
              ElementsAre("linear", "attention_gate", "qk_norm", "rotary_share", "offset_norm", "shared_gate"));
  EXPECT_THAT(words_in("bamba-9b"), ElementsAre("linear", "rotary_share"));
  EXPECT_THAT(words_in("nemotron-h-8b"), ElementsAre("linear", "halves", "no_positions"));
  EXPECT_THAT(words_in("granite-3.1-8b"), ElementsAre("residual_factor", "score_scale", "factors"));
  EXPECT_THAT(words_in("llama-4-scout-17b-16e"), ElementsAre("window", "unturned", "chunked", "plain_qk_norm", "scored_inputs"));
  EXPECT_THAT(words_in("mistral-7b"), ElementsAre("window"));
  EXPECT_THAT(words_in("qwen1.5-moe-a2.7b"), ElementsAre("shared_gate"));
  EXPECT_THAT(words_in("deepseek-v3"), ElementsAre("groups"));
  EXPECT_THAT(words_in("falcon-7b"), ElementsAre("parallel_blocks"));
  EXPECT_THAT(words_in("olmo-2-7b"), ElementsAre("qk_norm", "norm_place"));
  EXPECT_THAT(words_in("pythia-1b"), ElementsAre("rotary_share", "parallel_blocks"));
  EXPECT_THAT(words_in("gpt-oss-20b"), ElementsAre("window", "sinks", "gate_limit", "expert_biases"));
  EXPECT_THAT(words_in("bert-base-uncased"),
              ElementsAre("bidirectional", "norm_place", "token_types", "embedding_norm", "head_transform", "head_bias", "final_norm"));
}

}  // namespace
}  // namespace sim
