#include "executor/model/sines.h"

#include <gtest/gtest.h>

#include <cmath>

namespace executor {
namespace {

double at(const at::Tensor& table, std::int64_t position, std::int64_t column) { return table[position][column].item<double>(); }

TEST(Sines, FallFromOneTokenARadian) {
  const at::Tensor table = sine_table({.form = sim::Sines::Vaswani, .first = 2, .count = 3}, 8, at::kDouble);
  ASSERT_EQ(table.sizes(), (std::vector<std::int64_t>{3, 8}));
  for (std::int64_t position = 0; position < 3; ++position)
    for (std::int64_t column = 0; column < 4; ++column) {
      const double angle = static_cast<double>(position + 2) / std::pow(10000.0, 2 * static_cast<double>(column) / 8);
      EXPECT_NEAR(at(table, position, column), std::sin(angle), 1e-12);
      EXPECT_NEAR(at(table, position, column + 4), std::cos(angle), 1e-12);
    }
}

// The last one is 10000 tokens a radian, which that of the article never is.
TEST(Sines, ReachTheLongest) {
  const at::Tensor table = sine_table({.form = sim::Sines::ToTheLongest, .first = 7, .count = 1}, 8, at::kDouble);
  EXPECT_NEAR(at(table, 0, 0), std::sin(7.0), 1e-12);
  EXPECT_NEAR(at(table, 0, 3), std::sin(7e-4), 1e-12);
  EXPECT_NEAR(at(table, 0, 7), std::cos(7e-4), 1e-12);
}

}  // namespace
}  // namespace executor
