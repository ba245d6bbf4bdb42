#include "gui/core/slice_blocks.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(SliceBlocks, EndWhereTheirLastSliceEndsAndKnowTheLongest) {
  std::vector<std::int64_t> start, end;
  for (std::int64_t at = 0; at < 100; ++at) {
    start.push_back(at * 100);
    end.push_back(at * 100 + (at == 37 ? 90 : at == 70 ? 80 : 10));
  }
  const SliceBlocks blocks({start, end});
  ASSERT_EQ(blocks.end.size(), 7u);  // of 16, the last of 4
  EXPECT_EQ(blocks.end[0], 1510);
  EXPECT_EQ(blocks.end[6], 9910);
  EXPECT_EQ(blocks.longestOf({0, 7}), 37u);
  EXPECT_EQ(blocks.longestOf({3, 7}), 70u);
  EXPECT_EQ(blocks.longestOf({6, 7}), 96u);
}

}  // namespace
}  // namespace gui
