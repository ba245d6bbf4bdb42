#include "gui/models/arrangement.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

using testing::ElementsAre;

Table schedules() {
  return {{"Schedule", "Step"}, {{{"1f1b", {}}, {"9 ms", 9}}, {{"gpipe", {}}, {"10 ms", 10}}, {{"interleaved", {}}, {"8 ms", 8}}}, {}};
}

TEST(Arrangement, EveryWordMustOccur) {
  EXPECT_THAT(arranged(schedules(), {.filter = "ms 1"}), ElementsAre(0, 1));
  EXPECT_THAT(arranged(schedules(), {.filter = "GPIPE 10"}), ElementsAre(1));
  EXPECT_THAT(arranged(schedules(), {.filter = ""}), ElementsAre(0, 1, 2));
}

TEST(Arrangement, AColumnCanBeNamed) {
  EXPECT_THAT(arranged(schedules(), {.filter = "schedule:1"}), ElementsAre(0));
  EXPECT_THAT(arranged(schedules(), {.filter = "nowhere:1"}), ElementsAre());
}

TEST(Arrangement, SortsByValueNotByText) {
  EXPECT_THAT(arranged(schedules(), {.filter = {}, .column = 1}), ElementsAre(2, 0, 1));
  EXPECT_THAT(arranged(schedules(), {.filter = {}, .column = 1, .order = Qt::DescendingOrder}), ElementsAre(1, 0, 2));
  EXPECT_THAT(arranged(schedules(), {.filter = {}, .column = 0}), ElementsAre(0, 1, 2));
}

TEST(Arrangement, EqualRowsKeepTheirOrder) {
  Table table{{"A"}, {}, {}};
  for (int row = 0; row < 50; ++row) table.rows.push_back({{QString::number(row % 2), row % 2}});
  const std::vector<int> up = arranged(table, {.filter = {}, .column = 0});
  EXPECT_EQ(up[0], 0);
  EXPECT_EQ(up[1], 2);
  EXPECT_EQ(up[25], 1);
}

}  // namespace
}  // namespace gui
