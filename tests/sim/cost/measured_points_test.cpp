#include "sim/cost/measured_points.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

MeasuredKernel point(std::int32_t ranks, std::int64_t elements, Precision precision = Precision::Fp32) {
  return {.kernel = Kernel::AdamW, .precision = precision, .concurrent_ranks = ranks, .shape = {elements}, .time = Seconds(1e-3)};
}

std::vector<std::int64_t> chosen(const HardwareProfile& profile, std::int32_t busy) {
  std::vector<std::int64_t> sizes;
  for (const MeasuredKernel* one : select_points(profile, Kernel::AdamW, Precision::Fp32, {busy})) sizes.push_back(one->shape[0]);
  return sizes;
}

TEST(SelectPoints, MatchesTheBusyRanksOrTheNextMore) {
  HardwareProfile profile = testing::two_core_machine();
  profile.measured = {point(1, 11), point(4, 44), point(2, 22), point(2, 23), point(4, 99, Precision::Fp64)};
  EXPECT_THAT(chosen(profile, 1), ::testing::ElementsAre(11));
  EXPECT_THAT(chosen(profile, 2), ::testing::ElementsAre(22, 23));
  EXPECT_THAT(chosen(profile, 3), ::testing::ElementsAre(44));
  EXPECT_THAT(chosen(profile, 8), ::testing::ElementsAre(44));  // none of that many: the most there are
  EXPECT_TRUE(select_points(profile, Kernel::Sgd, Precision::Fp32, {1}).empty());
}

TEST(RatioCurve, WithoutPointsIsTheBaseline) { EXPECT_EQ(RatioCurve().ratio({1.0, 2.0, 3.0}), 1.0); }

TEST(RatioCurve, GoesThroughItsPoints) {
  RatioCurve line, space;
  for (const double x : {4.0, 1.0, 2.0}) {
    line.add({x, 0, 0}, Seconds(x + 1), Seconds(2));
    space.add({x, x * x, 1}, Seconds(x + 1), Seconds(2));
  }
  for (const double x : {1.0, 2.0, 4.0}) {
    EXPECT_NEAR(line.ratio({x, 0, 0}), (x + 1) / 2, 1e-12);
    EXPECT_NEAR(space.ratio({x, x * x, 1}), (x + 1) / 2, 1e-12);
  }
}

TEST(RatioCurve, StaysBetweenNeighborsAndKeepsTheEndsOutside) {
  RatioCurve line;
  line.add({1, 0, 0}, Seconds(1), Seconds(1));
  line.add({3, 0, 0}, Seconds(4), Seconds(1));
  EXPECT_NEAR(line.ratio({2, 0, 0}), 2.0, 1e-12);  // geometric mean
  EXPECT_NEAR(line.ratio({-9, 0, 0}), 1.0, 1e-12);
  EXPECT_NEAR(line.ratio({99, 0, 0}), 4.0, 1e-12);
}

TEST(RatioCurve, NearPointsCountMore) {
  RatioCurve space;
  space.add({0, 0, 0}, Seconds(1), Seconds(1));
  space.add({4, 4, 0}, Seconds(2), Seconds(1));
  EXPECT_NEAR(space.ratio({2, 2, 0}), std::sqrt(2.0), 1e-12);
  EXPECT_LT(space.ratio({1, 1, 0}), 1.02);
  EXPECT_GT(space.ratio({3, 3, 0}), 1.95);
}

}  // namespace
}  // namespace sim
