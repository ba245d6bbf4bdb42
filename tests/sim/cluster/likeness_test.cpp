#include "sim/cluster/likeness.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sim {
namespace {

TEST(Likeness, IsOneForTheSameAndLessFartherAway) {
  const Likeness one{.kind = "experts", .numbers = "bf16", .at = {1, 2}};
  Likeness other = one;
  EXPECT_EQ(alike(one, one), 1);
  other.at = {2, 2};
  const double near = alike(one, other);
  EXPECT_NEAR(near, std::exp(-0.5), 1e-12);
  EXPECT_EQ(alike(other, one), near);
  other.at = {3, 2};
  EXPECT_LT(alike(one, other), near);
  other = one;
  other.numbers = "fp8";
  EXPECT_LT(alike(one, other), 1);
  other.kind = "";
  EXPECT_LT(alike(one, other), 0.2);
}

TEST(Likeness, WhatARunTookHoldsForItsLikes) {
  const Likeness run{.kind = "", .numbers = "bf16", .at = {0}}, far{.kind = "", .numbers = "bf16", .at = {6}};
  const std::vector<LearnedRun> learned{{run, std::log(1.5)}};
  EXPECT_NEAR(learned_factor(learned, run), 1.5, 1e-12);
  EXPECT_NEAR(learned_factor(learned, far), 1, 1e-6);
  EXPECT_EQ(learned_factor({}, run), 1);
}

}  // namespace
}  // namespace sim
