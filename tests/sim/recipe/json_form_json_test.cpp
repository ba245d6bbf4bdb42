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

// What a script left open stands in its document with its name; whoever reads it asks for that.
TEST(JsonForm, ValuesThatAScriptLeftOpen) {
  const std::string open = unknown_value("STAGE"), formula = "((" + unknown_value("N") + "*8))";
  const RecipeSettings read =
      read_json("{\"stage\": " + open + ", \"file\": \"a/" + unknown_value("it\"s") + ".pt\", \"list\": [" + formula + "]}", "x.json");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].value, open);
  EXPECT_EQ(read[1].value, "a/" + unknown_value("it\"s") + ".pt");
  EXPECT_THAT(unknowns_in(read[2].value), ::testing::ElementsAre("N"));
  EXPECT_EQ(read_json("{\"a\": \"b\\\"" + open + "\"}", "x.json").front().value, "b\"" + open);
}

TEST(JsonForm, WhatMayBeMoreThanAValueIsAskedFor) {
  EXPECT_THROW(read_json("{\"a\": 8" + unknown_value("MORE") + "}", "x.json"), InputError);
  EXPECT_THROW(read_json("{" + unknown_value("MORE") + "\"a\": 8}", "x.json"), InputError);
}

}  // namespace
}  // namespace sim
