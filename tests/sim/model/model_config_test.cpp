#include "sim/model/model_config.h"

#include <gmock/gmock.h>

#include "configs.h"

namespace sim {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

auto at(const std::string& field) { return Field(&Violation::where, field); }

TEST(ModelConfig, AcceptsWhatANetworkCanBe) {
  EXPECT_THAT(violations(small_gpt2()), IsEmpty());
  EXPECT_THAT(violations(small_llama()), IsEmpty());
}

TEST(ModelConfig, HeadsDivideTheWidth) {
  ModelConfig config = small_gpt2();
  config.heads = config.kv_heads = 3;
  config.head_dim = config.hidden / config.heads;
  EXPECT_THAT(violations(config), ElementsAre(at("n_head")));
  EXPECT_THAT(violations(config)[0].problem, HasSubstr("is 3, which does not divide n_embd 16"));
}

TEST(ModelConfig, AGivenHeadSizeNeedsNoDivision) {
  ModelConfig config = small_llama();
  config.head_dim = 10;  // 4 heads of 10 over a width of 16
  EXPECT_THAT(violations(config), IsEmpty());
}

TEST(ModelConfig, KeyHeadsDivideHeads) {
  ModelConfig config = small_llama();
  config.kv_heads = 3;
  EXPECT_THAT(violations(config), ElementsAre(at("num_key_value_heads")));
}

TEST(ModelConfig, RotaryHeadsAreEven) {
  ModelConfig config = small_llama();
  config.head_dim = 5;
  EXPECT_THAT(violations(config), ElementsAre(at("head_dim")));
}

TEST(ModelConfig, TellsAllAtOnceUnderTheNamesOfItsFile) {
  ModelConfig config = small_llama();
  config.layers = 1'000'000;
  config.ffn = -1;
  config.kv_heads = 3;
  config.head_dim = 5;
  EXPECT_THAT(violations(config), ElementsAre(at("num_hidden_layers"), at("intermediate_size"), at("num_key_value_heads"), at("head_dim")));
}

TEST(ModelConfig, SizesStayInsideSixtyThreeBits) {
  ModelConfig config = small_llama();
  config.heads = config.kv_heads = 100'000;
  config.head_dim = 1'000;
  EXPECT_THAT(violations(config), ElementsAre(at("num_attention_heads")));
}

TEST(ModelConfig, UnknownSizesAreNotJudged) {
  ModelConfig config = small_llama();
  config.heads = config.hidden = 0;
  EXPECT_THAT(violations(config), IsEmpty());
}

}  // namespace
}  // namespace sim
