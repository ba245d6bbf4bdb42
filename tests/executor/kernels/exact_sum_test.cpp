#include "executor/kernels/exact_sum.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace executor {
namespace {

ExactSum sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

constexpr double kLargest = std::numeric_limits<double>::max(), kSmallest = std::numeric_limits<double>::denorm_min();

TEST(ExactSum, SingleValuesComeBack) {
  for (const double value :
       {0.0, 1.0, -1.0, 0.1, kLargest, -kLargest, kSmallest, -kSmallest, 2.2250738585072014e-308, 1e300, -1e-300, 12345678.9}) {
    EXPECT_EQ(sum_of({value}).value(), value);
  }
}

TEST(ExactSum, CancelsWithoutError) {
  EXPECT_EQ(sum_of({1e300, 1.0, -1e300}).value(), 1.0);
  EXPECT_EQ(sum_of({kLargest, kSmallest, -kLargest}).value(), kSmallest);
  EXPECT_EQ(sum_of({kLargest, kLargest, -kLargest}).value(), kLargest);  // the sum in between is no double
  EXPECT_EQ(sum_of({-3.0, 1.0}).value(), -2.0);
  EXPECT_EQ(sum_of({kLargest, kLargest}).value(), std::numeric_limits<double>::infinity());
}

TEST(ExactSum, RoundsOnceToNearestEven) {
  const double half_unit = 0x1p-53;  // of 1
  EXPECT_EQ(sum_of({1.0, half_unit}).value(), 1.0);
  EXPECT_EQ(sum_of({1.0, half_unit, kSmallest}).value(), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({1.0 + 0x1p-52, half_unit}).value(), 1.0 + 0x1p-51);
  EXPECT_EQ(sum_of({-1.0, -half_unit}).value(), -1.0);
  EXPECT_EQ(sum_of({-1.0, -half_unit, -kSmallest}).value(), -1.0 - 0x1p-52);
  EXPECT_EQ(sum_of({0x1.fffffffffffffp0, half_unit}).value(), 2.0);  // the mantissa runs over
}

std::vector<double> random_values(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 200) - 150));
  }
  return values;
}

TEST(ExactSum, OrderAndSplitDoNotMatter) {
  auto values = random_values(5000);
  const double expected = sum_of(values).value();
  std::mt19937_64 random(9);
  for (int round = 0; round < 5; ++round) {
    std::ranges::shuffle(values, random);
    ExactSum merged;
    for (std::size_t begin = 0; begin < values.size(); begin += 613) {
      ExactSum part;
      for (std::size_t i = begin; i < std::min(begin + 613, values.size()); ++i) part.add(values[i]);
      merged.add(part);
    }
    EXPECT_EQ(merged.value(), expected);
  }
}

// What an all-reduce does: limbs of normalised sums added one by one.
TEST(ExactSum, MergesByAddingLimbs) {
  const auto values = random_values(300);
  ExactSum merged;
  for (const double value : values) {
    ExactSum one = sum_of({value});
    one.normalise();
    for (std::size_t i = 0; i < ExactSum::kLimbs; ++i) merged.limbs()[i] += one.limbs()[i];
  }
  EXPECT_EQ(merged.value(), sum_of(values).value());
}

TEST(ExactSum, SaysWhenSomethingWasNotFinite) {
  EXPECT_TRUE(std::isnan(sum_of({1.0, std::numeric_limits<double>::infinity()}).value()));
  EXPECT_TRUE(std::isnan(sum_of({std::nan(""), 2.0}).value()));
}

TEST(ExactSum, SquaresDoNotDependOnTheShards) {
  const at::Tensor values = ((at::arange(64 * 37 + 5, at::kDouble) * 7919) % 1009 - 500) * 0.013;
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const at::Tensor flat = values.to(type);
    ExactSum whole;
    whole.add_squares(flat);
    for (const std::int64_t cut : {64, 640, 64 * 37}) {
      ExactSum left, right;
      left.add_squares(flat.slice(0, 0, cut));
      right.add_squares(flat.slice(0, cut));
      left.add(right);
      EXPECT_EQ(left.value(), whole.value());
    }
    const double expected = flat.to(at::kDouble).square().sum().item<double>();
    EXPECT_NEAR(whole.value(), expected, 1e-12 * expected);
  }
}

TEST(ExactSum, ValuesAreExact) {
  const at::Tensor values = at::arange(1000, at::kFloat) * 0.1F;
  ExactSum sum, expected;
  sum.add_values(values);
  for (std::int64_t i = 0; i < 1000; ++i) expected.add(static_cast<double>(values[i].item<float>()));
  EXPECT_EQ(sum.value(), expected.value());
}

}  // namespace
}  // namespace executor
