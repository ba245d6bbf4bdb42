#include "gui/models/cells.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(Cells, ReadByPeopleAndSortedByValue) {
  EXPECT_EQ(timeCell(sim::SimTime(1'270'000'000)).text, "1.27 ms");
  EXPECT_EQ(timeCell(sim::SimTime(5)).sort.toLongLong(), 5);
  EXPECT_EQ(bytesCell(sim::Bytes(std::int64_t{80} << 30)).text, "80.0 GiB");
  EXPECT_EQ(shareCell(0.083).text, "8.3 %");
  EXPECT_EQ(signedShareCell(0.083).text, "+8.3 %");
  EXPECT_EQ(signedShareCell(-0.5).text, "-50.0 %");
  EXPECT_EQ(countCell(7).text, "7");
  EXPECT_EQ(textOf("\u00d7"), QStringLiteral("×"));
}

TEST(Cells, OneIsNoPlural) {
  EXPECT_EQ(countText(1, "1 match", "%L1 matches"), "1 match");
  EXPECT_EQ(countText(1234, "1 match", "%L1 matches"), "1,234 matches");
  EXPECT_EQ(countText(0, "1 match", "%L1 matches"), "0 matches");
}

TEST(Cells, WhatIsLeftIsSaidOnceItCanBeTold) {
  EXPECT_EQ(leftText(sim::Seconds(30)), ", about 30 s left");
  EXPECT_EQ(leftText(sim::Seconds(90)), ", about 1 min 30 s left");
  EXPECT_EQ(leftText(std::nullopt), "");
}

}  // namespace
}  // namespace gui
