#include "executor/kernels/exponential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace executor {
namespace {

TEST(Exponential, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (double x = -87.3; x < 88.7; x += 0.00037) {
    const auto argument = static_cast<float>(x);
    const double exact = std::exp(static_cast<double>(argument));
    const auto nearest = static_cast<float>(exact);
    const double unit = std::nextafter(nearest, std::numeric_limits<float>::infinity()) - nearest;
    worst = std::max(worst, std::abs(static_cast<double>(exponential(argument)) - exact) / unit);
  }
  EXPECT_LT(worst, 2.0);
}

TEST(Exponential, Ends) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exponential(0.0F), 1.0F);
  EXPECT_EQ(exponential(-infinity), 0.0F);
  EXPECT_EQ(exponential(-1000.0F), 0.0F);
  EXPECT_EQ(exponential(infinity), infinity);
  EXPECT_EQ(exponential(100.0F), infinity);
  EXPECT_TRUE(std::isnan(exponential(std::nanf(""))));
  EXPECT_GT(exponential(-100.0F), 0.0F);  // a subnormal
}

}  // namespace
}  // namespace executor
