#include "sim/units/number_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace sim {
namespace {

TEST(NumberText, IsAllOfTheText) {
  EXPECT_EQ(number_in<std::int64_t>("12"), 12);
  EXPECT_EQ(number_in<double>("1e-3"), 0.001);
  for (const char* text : {"", "12 ", " 12", "12x", "1.5", "+1"}) EXPECT_EQ(number_in<std::int64_t>(text), std::nullopt) << text;
}

TEST(NumberText, LiesInItsRange) {
  EXPECT_EQ(number_in<std::int32_t>("7", 1, 7), 7);
  EXPECT_EQ(number_in<std::int32_t>("8", 1, 7), std::nullopt);
  EXPECT_EQ(number_in<std::int32_t>("0", 1, 7), std::nullopt);
  EXPECT_EQ(number_in<std::int32_t>("4294967297"), std::nullopt);  // no 32 bits hold it
  for (const char* text : {"nan", "inf", "-inf", "1e999"}) EXPECT_EQ(number_in<double>(text), std::nullopt) << text;
}

TEST(NumberText, MayStandForSoManyOfItsKind) {
  const auto read = [](std::string_view text) {
    const auto one = repeated_in(text, {0, 1}, {900, 5});
    return one ? std::pair(one->number, one->times) : std::pair<std::int64_t, std::int64_t>(-1, -1);
  };
  EXPECT_EQ(read("310"), std::pair(310L, 1L));
  EXPECT_EQ(read("120*2"), std::pair(120L, 2L));
  for (const char* text : {"", "*2", "120*", "120*0", "120*6", "901", "-1", "1*2*3"}) EXPECT_EQ(read(text).first, -1) << text;
}

}  // namespace
}  // namespace sim
