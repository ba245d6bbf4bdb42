#include "sim/timeline/statistics.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(Statistics, MedianAndQuartiles) {
  EXPECT_EQ(median({}), 0.0);
  EXPECT_EQ(median({4.0}), 4.0);
  EXPECT_EQ(median({9.0, 1.0, 4.0}), 4.0);
  EXPECT_EQ(median({1.0, 2.0, 4.0, 8.0}), 3.0);
  EXPECT_EQ(quantile({5.0, 1.0, 2.0, 3.0, 4.0}, {0.25}), 2.0);
  EXPECT_EQ(quantile({5.0, 1.0, 2.0, 3.0, 4.0}, {0.75}), 4.0);
  EXPECT_EQ(quantile({0.0, 10.0}, {0.75}), 7.5);
  EXPECT_EQ(quantile({3.0, 1.0, 2.0}, {1.0}), 3.0);
}

}  // namespace
}  // namespace sim
