#include "sim/units/quantity.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace sim {
namespace {

static_assert(!std::is_convertible_v<std::int64_t, Bytes>, "a bare number has no unit");
static_assert(!std::is_constructible_v<Bytes, Flops>, "quantities do not mix");

TEST(Quantity, AddsAndScales) {
  EXPECT_EQ(Bytes(3) + Bytes(4), Bytes(7));
  EXPECT_EQ(Bytes(3) - Bytes(4), Bytes(-1));
  EXPECT_EQ(-Bytes(3), Bytes(-3));
  EXPECT_EQ(3 * Bytes(4), Bytes(12));
  EXPECT_EQ(Bytes(12) / std::int64_t{5}, Bytes(2));
  Bytes sum(1);
  sum += Bytes(2);
  sum -= Bytes(4);
  EXPECT_EQ(sum, Bytes(-1));
}

TEST(Quantity, IsScaledToTheNearestByte) {
  EXPECT_EQ(scaled(Bytes(5), 0.5), Bytes(3));
  EXPECT_EQ(scaled(Bytes(-5), 0.5), Bytes(-3));
  EXPECT_EQ(scaled(Bytes((std::int64_t{1} << 60) + 1), 1), Bytes((std::int64_t{1} << 60) + 1)) << "exact, beyond what a double holds";
}

TEST(Quantity, RatioIsANumber) {
  EXPECT_EQ(Bytes(1) / Bytes(4), 0.25);
  EXPECT_LT(Bytes(1), Bytes(2));
}

}  // namespace
}  // namespace sim
