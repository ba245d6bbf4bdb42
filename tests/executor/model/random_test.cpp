#include "executor/model/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace executor {
namespace {

TEST(Random, IsAFunctionOfKeyAndIndex) {
  const RandomKey key = random_key({1, label_of("x"), 2});
  EXPECT_EQ(random_bits(key, 7), random_bits(random_key({1, label_of("x"), 2}), 7));
  EXPECT_NE(random_bits(key, 7), random_bits(key, 8));
  EXPECT_NE(key.value, random_key({2, label_of("x"), 1}).value) << "the order of labels counts";
  EXPECT_NE(label_of("attention"), label_of("mlp"));
}

TEST(Random, BitsAreBalanced) {
  const RandomKey key = random_key({3});
  constexpr int kDraws = 20000;
  int ones = 0;
  for (std::uint64_t index = 0; index < kDraws; ++index) ones += __builtin_popcountll(random_bits(key, index));
  EXPECT_NEAR(ones, kDraws * 32, 6 * std::sqrt(kDraws * 16.0));
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  const RandomKey key = random_key({4});
  constexpr int kDraws = 40000;
  double sum = 0, squares = 0, neighbours = 0, last = 0;
  for (std::uint64_t index = 0; index < kDraws; ++index) {
    const double value = random_normal(key, index);
    sum += value;
    squares += value * value;
    neighbours += value * last;
    last = value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 0.05);
  EXPECT_NEAR(neighbours / kDraws, 0, 5 / std::sqrt(kDraws)) << "pairs share uniforms, yet do not correlate";
}

TEST(Random, UnitIntervalIsOpen) {
  EXPECT_GT(to_unit_interval(0), 0.0);
  EXPECT_LT(to_unit_interval(~std::uint64_t{0}), 1.0);
}

}  // namespace
}  // namespace executor
