#include "sim/recipe/shell_cursor.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

class Walker : public ShellCursor {
 public:
  using ShellCursor::ShellCursor;
  std::string words(bool doubles) {
    std::string all;
    while (true) {
      doubles ? skip_blank() : skip_blank_but_double();
      const std::string word = take_word();
      if (word.empty()) return all;
      all += word + "|";
    }
  }
  std::string ahead() const { return peek(); }
};

TEST(ShellCursor, WordsKeepTheirQuotesAndWhatStandsBetweenIsPassedOver) {
  Walker walker("  a='x y' \\\n b # why\n; $(date +%s) \"c d\"");
  EXPECT_EQ(walker.ahead(), " ");
  EXPECT_EQ(walker.words(true), "a='x y'|b|$(date +%s)|\"c d\"|");
}

TEST(ShellCursor, TwoSemicolonsEndACase) {
  EXPECT_EQ(Walker("a ; b ;; c").words(false), "a|b|");
  EXPECT_EQ(Walker("a ; b ;; c").words(true), "a|b|c|");
  EXPECT_EQ(Walker("a && b").words(true), "a|");  // what && makes of b is the statement's business
}

}  // namespace
}  // namespace sim
