#include "gui/models/run_tables.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(RunTables, ARowARun) {
  const Table table =
      historyTable({{.folder = "/runs/b", .plan = "p", .started = 10, .steps = 20, .loss = 2.5, .tokens_per_second = 1234, .error = 0.031},
                    {.folder = "/runs/a", .plan = "q", .started = 5}});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0].text, "/runs/b");
  EXPECT_EQ(table.rows[0][3].text, "2.500");
  EXPECT_EQ(table.rows[0][4].text, "1,234");
  EXPECT_EQ(table.rows[0][5].text, "+3.1 %");
  EXPECT_EQ(table.rows[1][5].text, QStringLiteral("–"));
}

}  // namespace
}  // namespace gui
