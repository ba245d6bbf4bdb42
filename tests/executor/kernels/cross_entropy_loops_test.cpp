#include "executor/kernels/cross_entropy_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace executor {
namespace {

std::vector<double> logits(std::int64_t columns) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < columns; ++i) values.push_back(static_cast<double>((i * 389) % 101) * 0.125 - 6);  // exact in fp32
  return values;
}

// Every width around the vector lengths: body, tail, nothing.
TEST(CrossEntropyLoops, AllWidths) {
  for (std::int64_t columns = 0; columns < 140; ++columns) {
    const auto row = logits(columns);
    const std::vector<float> row32(row.begin(), row.end());
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double value : row) highest = std::max(highest, value);
    for (const double value : row) sum += std::exp(value - highest);
    const TokenLogits<const float, float> token{
        .logits = row32.data(), .columns = columns, .real = columns, .target = -1, .maximum = static_cast<float>(highest)};
    const TokenLogits<const double, double> token64{
        .logits = row.data(), .columns = columns, .real = columns, .target = -1, .maximum = highest};
    EXPECT_EQ(maximum_loop(token), static_cast<float>(highest));
    EXPECT_EQ(maximum_loop(token64), highest);
    EXPECT_NEAR(exponentials_loop(token), sum, 1e-6 * sum);
    EXPECT_NEAR(exponentials_loop(token64), sum, 1e-15 * sum);
  }
}

TEST(CrossEntropyLoops, GradientIsSoftmaxLessTarget) {
  for (std::int64_t columns = 1; columns < 70; ++columns) {
    const auto row = logits(columns);
    auto gradient = row;
    const std::int64_t real = (columns + 1) / 2, target = columns % real;
    double sum = 0;
    for (std::int64_t i = 0; i < real; ++i) sum += std::exp(row[static_cast<std::size_t>(i)] - 7);
    gradient_loop(TokenLogits<double, double>{.logits = gradient.data(), .columns = columns, .real = real, .target = target, .maximum = 7},
                  {.sum = sum, .scale = 0.25});
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double expected = i < real ? (std::exp(row[at] - 7) / sum - (i == target)) * 0.25 : 0;
      EXPECT_NEAR(gradient[at], expected, 1e-15) << columns << " " << i;
    }
  }
}

}  // namespace
}  // namespace executor
