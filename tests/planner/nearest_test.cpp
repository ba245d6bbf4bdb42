#include "planner/nearest.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

TEST(Nearest, OneAxisIsNearerThanTwo) {
  const PlanCandidate from{.mesh = {.data = 8}, .microbatch = 4};
  PlanCandidate one = from, two = from;
  one.recompute = sim::Recompute::Full;
  two.microbatch = 2;
  two.accumulation = sim::Accumulation::ReduceEach;
  EXPECT_LT(distance(from, one), distance(from, two));
  EXPECT_EQ(distance(from, from), Distance{});
}

TEST(Nearest, HalfIsNearerThanAQuarter) {
  const PlanCandidate from{.mesh = {.data = 8}, .microbatch = 4};
  PlanCandidate half = from, quarter = from;
  half.microbatch = 2;
  quarter.microbatch = 1;
  EXPECT_LT(distance(from, half), distance(from, quarter));
}

// The data degree follows from the other two: changing tensor is one change.
TEST(Nearest, DataFollows) {
  const PlanCandidate from{.mesh = {.data = 8}}, to{.mesh = {.data = 4, .pipeline = 1, .tensor = 2}};
  EXPECT_EQ(distance(from, to).axes, 1);
  EXPECT_EQ(changes(from, to), "data=4 tensor=2");
}

}  // namespace
}  // namespace planner
