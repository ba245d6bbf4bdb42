#include <gmock/gmock.h>

#include "sim/units/json_reader.h"
#include "sim/validation/field_reader.h"

namespace sim {
namespace {

TEST(FieldReader, NotesWhatWasNotSaid) {
  const Json json = {{"a", 3}, {"b", nullptr}, {"c", true}};
  const JsonReader reader(json, "f");
  std::vector<Assumption> assumed;
  const FieldReader fields(reader, "plan", assumed);
  EXPECT_EQ(fields.size("a", 1), 3);
  EXPECT_EQ(fields.size("b", 7), 7);
  EXPECT_TRUE(fields.flag("c", false));
  EXPECT_EQ(fields.text("d", "x"), "x");
  EXPECT_EQ(fields.number("e", 0.5), 0.5);
  ASSERT_EQ(assumed.size(), 3u);
  EXPECT_EQ(assumed[0].field, "plan.b");
  EXPECT_EQ(assumed[0].value, "7");
}

TEST(FieldReader, ChoicesByName) {
  constexpr std::string_view kNames[] = {"x", "y"};
  const Json json = {{"a", "y"}};
  const JsonReader reader(json, "f");
  std::vector<Assumption> assumed;
  const FieldReader fields(reader, "plan", assumed);
  EXPECT_EQ(fields.choice("a", kNames, 0), 1u);
  EXPECT_EQ(fields.choice("b", kNames, 0), 0u);
  EXPECT_EQ(assumed.back().value, "x");
}

}  // namespace
}  // namespace sim
