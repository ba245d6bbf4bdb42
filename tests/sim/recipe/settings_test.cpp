#include "sim/recipe/settings.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(Settings, KnowsWhatStandsWithoutQuotes) {
  for (const char* literal : {"4", "-1", "0.95", "3e-4", "true", "[1, 2]"}) EXPECT_TRUE(is_literal(literal)) << literal;
  for (const char* text : {"no", "bf16", "", "inf", "nan", "4 GiB", "0x"}) EXPECT_FALSE(is_literal(text)) << text;
}

TEST(Settings, PythonBeginsBehindItsWords) {
  for (const char* python :
       {"import a", "from a import b", "# of mine\n\nimport a", "#!/usr/bin/env python3\nx = 1", "\"\"\"A line.\n\"\"\"\nimport a"})
    EXPECT_TRUE(begins_as_python(python)) << python;
  for (const char* other : {"", "# from here\nmodel: a", "#!/bin/bash\n# import\nimport a.png", "\"\"\"never closed"})
    EXPECT_FALSE(begins_as_python(other)) << other;
}

TEST(Settings, LeafIsBehindTheLastDot) {
  EXPECT_EQ(leaf_of("a.b.c"), "c");
  EXPECT_EQ(leaf_of("c"), "c");
}

TEST(Settings, AreRenamedByTheFirstRowThatFits) {
  constexpr Renaming kRows[] = {{"norm", "rms", "normalization", "RMSNorm"}, {"norm", "", "other-norm", ""}};
  EXPECT_EQ(renamed({"norm", "rms"}, kRows), (RecipeSetting{"normalization", "RMSNorm"}));
  EXPECT_EQ(renamed({"norm", "group"}, kRows), (RecipeSetting{"other-norm", "group"}));
  EXPECT_EQ(renamed({"bias", "rms"}, kRows), std::nullopt);
}

TEST(Settings, HeadIsComments) { EXPECT_EQ(comment_lines({"title", {"one", "two"}}), "# title\n# - one\n# - two\n"); }

}  // namespace
}  // namespace sim
