#include "sim/plan/block_ranges.h"

#include <gtest/gtest.h>

#include <utility>

namespace sim {
namespace {

TEST(BlockRanges, HaveOneText) {
  for (const char* text : {"0", "0-1", "0-1,30-31", "3,5,7"}) EXPECT_EQ(to_text(*parse_block_ranges(text)), text);
  for (const auto& [text, one] : {std::pair("1,0", "0-1"), std::pair("4-9,5", "4-9"), std::pair("7,0-2,2-4,6", "0-4,6-7")})
    EXPECT_EQ(to_text(*parse_block_ranges(text)), one) << text;
  EXPECT_EQ(*parse_block_ranges("0,2-3"), (BlockRanges{{0, 0}, {2, 3}}));
}

TEST(BlockRanges, AreNumbers) {
  for (const char* text : {"", ",", "0,", ",0", "-", "1-", "-1", "2-1", "0x1", "1.5", "+1", " 1", "all", "1000000", "99999999999"})
    EXPECT_FALSE(parse_block_ranges(text)) << text;
  EXPECT_TRUE(parse_block_ranges("999999"));
}

TEST(BlockRanges, HaveEnds) {
  for (const auto& [ends, text] :
       {std::pair(BlockEnds{1, 1}, "0,7"), std::pair(BlockEnds{0, 3}, "5-7"), std::pair(BlockEnds{2, 0}, "0-1")}) {
    EXPECT_EQ(to_text(blocks_at(ends, 8)), text);
    const auto found = ends_in(*parse_block_ranges(text), 8);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->first, ends.first) << text;
    EXPECT_EQ(found->last, ends.last) << text;
  }
  EXPECT_EQ(to_text(blocks_at({.first = 5, .last = 5}, 8)), "0-7") << "those that are both stand once";
  EXPECT_EQ(to_text(blocks_at({.first = 9, .last = 9}, 8)), "0-7");
  EXPECT_TRUE(blocks_at({}, 8).empty());
  EXPECT_FALSE(ends_in(BlockRanges{{3, 3}}, 8));
  EXPECT_FALSE(ends_in(BlockRanges{{0, 0}, {7, 7}}, 9)) << "there is one behind";
}

}  // namespace
}  // namespace sim
