#include "sim/units/at.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sim {
namespace {

enum class Color : std::uint8_t { Red, Green };
constexpr std::array<std::string_view, 2> kColorNames = {"red", "green"};

TEST(At, TakesNumbersAndEnumerators) {
  static_assert(at(kColorNames, Color::Green) == "green");
  std::vector<int> numbers{1, 2, 3};
  at(numbers, std::int64_t{2}) = 7;
  EXPECT_EQ(numbers.back(), 7);
  std::vector<bool> bits(3);
  at(bits, 1) = true;
  EXPECT_TRUE(bits[1]);
}

}  // namespace
}  // namespace sim
