#include "sim/recipe/shell_command.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

struct Reader : ShellCommandCursor {
  using ShellCommandCursor::ShellCommandCursor;
  using ShellCommandCursor::take_command;
};

TEST(ShellCommand, WordsRedirectionsAndDocuments) {
  const RawCommand command = Reader("L=(a \"b c\") cat -x 2>&1 <<'E' > $F # why\n\tone\nE\nnext").take_command();
  EXPECT_THAT(command.words, ElementsAre("L=(a \"b c\")", "cat", "-x"));
  EXPECT_EQ(command.target, "$F");
  EXPECT_THAT(command.documents, ElementsAre(Pair("'E'", "one\n")));
}

TEST(ShellCommand, EndsWhereTheNextBegins) {
  EXPECT_THAT(Reader("run --a 1; run --b").take_command().words, ElementsAre("run", "--a", "1"));
  EXPECT_THAT(Reader("run --a && x").take_command().words, ElementsAre("run", "--a"));
}

// `--a 1 \\ `: the backslash takes the blank, and the line ends.
TEST(ShellCommand, ABlankBehindABackslashEndsIt) {
  const RawCommand cut = Reader("run --a 1 \\ \n  --b 2\n").take_command();
  EXPECT_THAT(cut.words, ElementsAre("run", "--a", "1"));
  EXPECT_TRUE(cut.is_cut);
  EXPECT_TRUE(Reader("run --a 1 \\  # why\n  --b 2\n").take_command().is_cut);
  EXPECT_FALSE(Reader("run --a 1 \\\n  --b 2\n").take_command().is_cut);
  EXPECT_FALSE(Reader("run --a 1 \\ \nnext\n").take_command().is_cut);
}

TEST(ShellCommand, WhatStandsBehindAnOption) {
  EXPECT_TRUE(takes_next("--name"));
  EXPECT_FALSE(takes_next("--name=a"));
  EXPECT_FALSE(takes_next("name"));
  EXPECT_TRUE(ends_well({"exit"}));
  EXPECT_FALSE(ends_well({"exit", "1"}));
}

}  // namespace
}  // namespace sim
