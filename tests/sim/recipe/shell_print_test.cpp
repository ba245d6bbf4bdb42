#include "sim/recipe/shell_print.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(ShellPrint, LinesUntilItReturns) {
  ShellPrint print;
  print.take({"echo", "a", "b"}, false);
  print.take({"echo", "-n", "c"}, false);
  print.take({"return"}, false);
  print.take({"grep", "d"}, true);
  EXPECT_EQ(std::move(print).text(), "a b\nc");
}

TEST(ShellPrint, WhatOthersPrintIsNotKnown) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"grep", "a"}, {"echo", "-e", "a"}}) {
    ShellPrint print;
    print.take(words, false);
    EXPECT_EQ(std::move(print).text(), std::nullopt);
  }
  ShellPrint doubted;
  doubted.add("a", true);
  EXPECT_EQ(std::move(doubted).text(), std::nullopt);
}

TEST(ShellPrint, WhoMayPrint) {
  EXPECT_TRUE(may_be_printed(" width 8", {{"width", "{ echo 1; }"}}));
  EXPECT_TRUE(may_be_printed("cat <<EOF\na\nEOF\n", {}));
  EXPECT_TRUE(may_be_printed("echo a | cut -c 1", {}));
  EXPECT_TRUE(may_be_printed("if [ a = a ]; then echo b; fi", {}));
  EXPECT_TRUE(may_be_printed("[[ a == b ]] && echo c", {}));
  EXPECT_FALSE(may_be_printed("cat file", {}));
  EXPECT_FALSE(may_be_printed("nproc", {{"width", "{ echo 1; }"}}));
}

}  // namespace
}  // namespace sim
