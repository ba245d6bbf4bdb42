#include "sim/recipe/spelling.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(Spelling, AnArgumentIsAValueOfPython) {
  EXPECT_EQ(spelled(Spelling::AsItIs, true, "4"), "4");
  EXPECT_EQ(spelled(Spelling::AsItIs, false, ""), "");
  EXPECT_EQ(spelled(Spelling::Flag, true, "true"), "true");
  EXPECT_EQ(spelled(Spelling::Flag, false, ""), "false");
  EXPECT_EQ(spelled(Spelling::Not, true, "true"), "false");
  EXPECT_EQ(spelled(Spelling::List, true, "([0]*2+[1]*1)"), "[0, 0, 1]");
  EXPECT_EQ(spelled(Spelling::Pair, true, "127,0"), "(127, 0)");
  EXPECT_EQ(spelled(Spelling::Words, true, "mlp layernorm"), "[\"mlp\", \"layernorm\"]");
}

TEST(Spelling, AndBack) {
  EXPECT_EQ(argument_of(Spelling::Not, "False"), "true");
  EXPECT_EQ(argument_of(Spelling::Not, "maybe"), "maybe");
  EXPECT_EQ(argument_of(Spelling::List, "[0] * 2 + [1]"), "[0]*2+[1]");
  EXPECT_EQ(argument_of(Spelling::Pair, "[127, 0]"), "127,0");
  EXPECT_EQ(argument_of(Spelling::Words, "[\"mlp\",\"layernorm\"]"), "mlp layernorm");
}

}  // namespace
}  // namespace sim
