#include <gmock/gmock.h>

#include "sim/recipe/settings.h"

namespace sim {
namespace {

TEST(JsonForm, WhatIsWrittenIsReadAgainWithoutItsHead) {
  const RecipeSettings settings = {{"a.b", "4"}, {"a.c", "text"}, {"d", "true"}, {"e", "[0.9,0.95]"}};
  const RecipeSettings now = read_json(json_text({"title", {"note"}}, settings), "x.json");
  ASSERT_EQ(now.size(), settings.size());
  for (std::size_t at = 0; at < now.size(); ++at) EXPECT_EQ(now[at].key + now[at].value, settings[at].key + settings[at].value);
}

TEST(JsonForm, RefusesWhatIsNone) {
  EXPECT_THROW(read_json("[1]", "x.json"), InputError);
  EXPECT_THROW(read_json("{\"a\": ", "x.json"), InputError);
}

}  // namespace
}  // namespace sim
