#include "gui/import/json_cursor.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(JsonCursor, WalksOverValuesOfEveryKind) {
  JsonCursor cursor(R"( {"a": [1, "}", {"b": "\\"}], "c" : -1.5e3, "d": "x\"y"} )");
  ASSERT_TRUE(cursor.take('{'));
  EXPECT_EQ(cursor.string(), "a");
  ASSERT_TRUE(cursor.take(':'));
  EXPECT_EQ(cursor.value(), R"([1, "}", {"b": "\\"}])");
  ASSERT_TRUE(cursor.take(','));
  EXPECT_EQ(cursor.string(), "c");
  ASSERT_TRUE(cursor.take(':'));
  EXPECT_EQ(cursor.scalar(), "-1.5e3");
  ASSERT_TRUE(cursor.take(','));
  EXPECT_EQ(cursor.string(), "d");
  ASSERT_TRUE(cursor.take(':'));
  EXPECT_EQ(cursor.scalar(), R"(x\"y)");
  EXPECT_TRUE(cursor.take('}'));
  EXPECT_TRUE(cursor.atEnd());
}

TEST(JsonCursor, SaysWhereTheTextEnds) {
  for (const char* text : {"", "{", "\"abc", "[1, 2", "{\"a\": \"b", "12"}) EXPECT_FALSE(JsonCursor(text).value().has_value()) << text;
  EXPECT_FALSE(JsonCursor("[1]").scalar().has_value());
}

TEST(JsonCursor, Unescapes) {
  EXPECT_EQ(unescaped(R"(a\"b\\c\/d\u00e9\u4e2d)"), "a\"b\\c/d\u00e9\u4e2d");
  EXPECT_EQ(unescaped(R"(\u12)"), "u12");
  EXPECT_EQ(unescaped("\\"), "\\");
}

TEST(JsonCursor, TimesAreExactNanoseconds) {
  EXPECT_EQ(nanosecondsOf("1695835965123456.789"), 1695835965123456789);
  EXPECT_EQ(nanosecondsOf("12"), 12000);
  EXPECT_EQ(nanosecondsOf("12."), 12000);
  EXPECT_EQ(nanosecondsOf("0.05"), 50);
  EXPECT_EQ(nanosecondsOf("-1.5"), -1500);
  EXPECT_EQ(nanosecondsOf("1.2345678"), 1234);
  EXPECT_EQ(nanosecondsOf("1e3"), 1000000);
  for (const char* text : {"", "x", "1.2x", "nan", "1e300", "99999999999999999999", "null", "-"})
    EXPECT_FALSE(nanosecondsOf(text).has_value()) << text;
}

}  // namespace
}  // namespace gui
