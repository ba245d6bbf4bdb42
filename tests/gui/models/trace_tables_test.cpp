#include "gui/models/trace_tables.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(TraceTables, StatisticsHaveTheirMean) {
  const Table table = statisticsTable({{.name = 1,
                                        .slices = 4,
                                        .total = sim::SimTime(80),
                                        .shortest = sim::SimTime(10),
                                        .p99 = sim::SimTime(30),
                                        .longest = sim::SimTime(40)}},
                                      {"a", "b"});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][0].text, "b");
  EXPECT_EQ(table.rows[0][3].sort.toLongLong(), 20);
  EXPECT_EQ(table.rows[0][5].sort.toLongLong(), 30);
}

TEST(TraceTables, MembersHaveTheirUnits) {
  const Table table = membersTable({{"dur", "38"}, {"bytes", "1048576"}, {"grid", "[1, 2, 3]"}});
  EXPECT_EQ(table.rows[0][1].text, "38.0 us");
  EXPECT_EQ(table.rows[1][1].text, "1.00 MiB");
  EXPECT_EQ(table.rows[2][1].text, "[1, 2, 3]");
}

TEST(TraceTables, MembersKeepTheirOrder) { EXPECT_EQ(membersTable({{"ph", "X"}, {"ts", "1"}}).rows[1][0].text, "ts"); }

}  // namespace
}  // namespace gui
