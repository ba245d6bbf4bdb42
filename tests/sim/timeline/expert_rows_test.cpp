#include "sim/timeline/expert_rows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sim {
namespace {

ExpertRows of(std::initializer_list<std::int64_t> rows) {
  ExpertRows all;
  for (const std::int64_t one : rows) all.add(one);
  return all;
}

TEST(ExpertRows, SpreadIsDeviationOverMean) {
  EXPECT_DOUBLE_EQ(spread_of(of({6, 10})).value(), 0.25);
  EXPECT_DOUBLE_EQ(spread_of(of({0, 0, 0, 8})).value(), std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(spread_of(of({7, 7, 7})).value(), 0);
}

TEST(ExpertRows, RanksAddUp) {
  ExpertRows both = of({6, 3});
  both += of({10, 5});
  EXPECT_EQ(both, of({6, 3, 10, 5}));
}

TEST(ExpertRows, NoRowsHaveNone) {
  EXPECT_EQ(spread_of({}), std::nullopt);
  EXPECT_EQ(spread_of(of({0, 0})), std::nullopt);
}

}  // namespace
}  // namespace sim
