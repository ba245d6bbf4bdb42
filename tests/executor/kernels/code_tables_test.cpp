#include "executor/kernels/code_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace executor {
namespace {

TEST(CodeTables, AscendAndHoldNothingTwice) {
  for (const ByteTable* table : {&signed_tree(), &unsigned_tree()})
    EXPECT_EQ(std::ranges::adjacent_find(*table, std::greater_equal<>()), table->end());
  EXPECT_EQ(std::ranges::adjacent_find(kNf4, std::greater_equal<>()), kNf4.end());
}

// As torch computes bitsandbytes' table.
TEST(CodeTables, AreTheKnownOnes) {
  EXPECT_FLOAT_EQ(signed_tree().front(), -0.99296874F);
  EXPECT_FLOAT_EQ(signed_tree()[254], 0.99296874F);
  EXPECT_EQ(signed_tree()[127], 0.0F);
  EXPECT_FLOAT_EQ(signed_tree()[128], 5.5e-7F);
  EXPECT_EQ(signed_tree().back(), 1.0F);
  EXPECT_EQ(unsigned_tree().front(), 0.0F);
  EXPECT_FLOAT_EQ(unsigned_tree()[1], 3.25e-7F);
  EXPECT_FLOAT_EQ(unsigned_tree()[254], 0.99648440F);
}

TEST(CodeTables, TheNearestIsTheNearest) {
  for (float value = -1.1F; value < 1.1F; value += 0.00137F) {
    const std::uint8_t code = nearest_code(kNf4, value);
    for (const float other : kNf4) EXPECT_LE(std::abs(value - kNf4.at(code)), std::abs(value - other));
  }
  EXPECT_EQ(nearest_code(kNf4, 0.0F), kZeroOfNf4);
  constexpr std::array<float, 2> kEnds = {0, 1};
  EXPECT_EQ(nearest_code(kEnds, 0.5F), 0);  // as near: the smaller
  EXPECT_EQ(nearest_code(kEnds, 2.0F), 1);
  EXPECT_EQ(nearest_code(kNf4, std::nanf("")), 0);
}

}  // namespace
}  // namespace executor
