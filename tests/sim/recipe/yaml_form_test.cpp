#include <gmock/gmock.h>

#include "sim/recipe/settings.h"

namespace sim {
namespace {

TEST(YamlForm, WhatIsWrittenIsReadAgain) {
  const RecipeSettings settings = {
      {"mixed_precision", "no"}, {"fsdp_config.fsdp_version", "2"}, {"fsdp_config.name", "it's"}, {"last", "false"}};
  const std::string text = yaml_text({"title", {"a: note"}}, settings);
  EXPECT_THAT(text, ::testing::HasSubstr("mixed_precision: 'no'"));  // plain, it would be false
  const RecipeSettings now = read_yaml(text, "x.yaml");
  ASSERT_EQ(now.size(), settings.size());
  for (std::size_t at = 0; at < now.size(); ++at) EXPECT_EQ(now[at].key + now[at].value, settings[at].key + settings[at].value);
}

TEST(YamlForm, RefusesInWords) {
  for (const char* text : {"- a\n- b\n", "a: [1, 2\n", "a: &x {b: *x}\n", "? {a: b}\n: c\n", "just text"})
    EXPECT_THROW(read_yaml(text, "x.yaml"), InputError) << text;
  std::string deep;
  for (int level = 0; level < 40; ++level) deep += std::string(static_cast<std::size_t>(level), ' ') + "a:\n";
  EXPECT_THROW(read_yaml(deep + std::string(40, ' ') + "b: 1\n", "x.yaml"), InputError);
}

}  // namespace
}  // namespace sim
