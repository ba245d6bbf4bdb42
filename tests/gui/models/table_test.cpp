#include "gui/models/table.h"

#include <gmock/gmock.h>

#include "gui/models/cells.h"

namespace gui {
namespace {

TEST(Table, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(csvOf({{"Name", "Size"}, {{{"a, \"b\"", {}}, {"9 B", 9}}, {{"c", {}}, {"10 B", 10}}}, {}}),
            "Name,Size\r\n\"a, \"\"b\"\"\",9 B\r\nc,10 B\r\n");
}

TEST(Table, NumbersAreTold) {
  EXPECT_TRUE(isNumber({"9 B", 9}));
  EXPECT_TRUE(isNumber({"9 B", 9.5}));
  EXPECT_FALSE(isNumber({"9", {}}));
}

TEST(Table, CsvHasPlainNumbersWithTheirUnitInTheHeader) {
  Table table;
  table.headers = {"Plan", "Step time", "Memory", "MFU", "Tokens/s", "Data"};
  table.rows = {{{"a", {}},
                 timeCell(sim::SimTime(1'234'567'890'123)),
                 bytesCell(sim::Bytes(123456789)),
                 shareCell(0.41234),
                 {"1,234", 1234.4},
                 {"4 \u00d7 context 2", 4}},
                {{"b", {}}, {QStringLiteral("\u2013"), 0}, bytesCell(sim::Bytes(1)), shareCell(1), {"7", 7}, {"8", 8}}};
  EXPECT_EQ(csvOf(table).toStdString(),
            "Plan,Step time (s),Memory (B),MFU (1 = 100 %),Tokens/s,Data\r\na,1.234567890123,123456789,0.41234,1234.4,4 \u00d7 context "
            "2\r\nb,,1,1,7,8\r\n");
}

}  // namespace
}  // namespace gui
