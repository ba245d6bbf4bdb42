#include "sim/timeline/rows.h"

#include <gtest/gtest.h>

#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

TEST(Rows, OneAStageWhenFolded) {
  const Timeline timeline = testing::two_stages();
  const auto rows = device_rows(timeline);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].label, "stage 0");
  EXPECT_EQ(rows[0].spans.size(), 6u);
  EXPECT_EQ(rows[1].label, "stage 1");
  EXPECT_EQ(rows[1].spans.size(), 4u);
}

TEST(Rows, RanksOfOneStageAreNamedAndAligned) {
  Timeline timeline = testing::two_stages();
  timeline.devices[0].representative = Rank(9);
  timeline.devices[1] = {.representative = Rank(10), .stage = StageIndex(0)};
  const auto rows = device_rows(timeline);
  EXPECT_EQ(rows[0].label, "rank 9 ");
  EXPECT_EQ(rows[1].label, "rank 10");
}

TEST(Rows, ADeviceWithoutSpansHasAnEmptyRow) {
  Timeline timeline = testing::two_stages();
  timeline.spans.erase(timeline.spans.begin(), timeline.spans.begin() + 6);
  const auto rows = device_rows(timeline);
  EXPECT_TRUE(rows[0].spans.empty());
  EXPECT_EQ(rows[1].spans.size(), 4u);
}

}  // namespace
}  // namespace sim
