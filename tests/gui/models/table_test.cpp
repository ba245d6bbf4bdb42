#include "gui/models/table.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace gui
