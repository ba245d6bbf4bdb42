#include "cli/table.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(Table, AlignsNumbersRightAndWordsLeft) {
  EXPECT_EQ(table_text({{"kind", "time", "why"}, {"forward", "9.5 ms", "a reason"}, {"b", "10.5 ms", ""}}),
            "kind        time  why\n"
            "forward   9.5 ms  a reason\n"
            "b        10.5 ms\n");
}

TEST(Table, TheLastColumnIsLeftAligned) {
  EXPECT_EQ(table_text({{"a", "why"}, {"x", "8 % slower"}, {"y", "12"}}), "a  why\nx  8 % slower\ny  12\n");
}

TEST(Table, RowsMayBeShorterThanTheHeader) { EXPECT_EQ(table_text({{"a", "b"}, {"x"}}), "a  b\nx\n"); }

TEST(Table, SignedNumbersAreNumbers) { EXPECT_EQ(table_text({{"error"}, {"+1 %"}, {"-12 %"}}), "error\n +1 %\n-12 %\n"); }

}  // namespace
}  // namespace cli
