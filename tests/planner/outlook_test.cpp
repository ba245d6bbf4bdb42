#include "planner/outlook.h"

#include <gtest/gtest.h>

#include "tests/planner/problems.h"

namespace planner {
namespace {

TEST(Outlook, SaysWhatComesOfTheTraining) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 4});
  request.objective = Objective::TimeToTrain;
  request.whole.steps = 100'000;
  request.whole.reliability = {.mean_time_between_failures = sim::Seconds(80'000), .restart = sim::Seconds(600), .save = sim::Seconds(30)};
  const RankedPlan best = search(request).ranked.front();
  const Outlook outlook = outlook_of(request, best);
  EXPECT_NEAR(outlook.time.count(), best.measure, 1e-6 * best.measure);
  EXPECT_NEAR(outlook.goodput, sim::to_seconds(best.result.step_time).count() * 100'000 / best.measure, 1e-9);
  EXPECT_NEAR(outlook.failures, best.measure / 10'000, 1e-6 * outlook.failures);
  EXPECT_LT(outlook.low, outlook.time);
  EXPECT_GT(outlook.high, outlook.time);
  EXPECT_GT(outlook.checkpoint_interval, 0);
  EXPECT_EQ(outlook.spares, 0);
  EXPECT_EQ(outlook.waiting, 0);
}

TEST(Outlook, WhatAPlanLeavesIsHeldBack) {
  SearchRequest request = small_request({.devices = 16, .devices_per_node = 4});
  request.whole.most_spares = 2;
  EXPECT_EQ(spares_beside(request, 16), 0);
  EXPECT_EQ(spares_beside(request, 12), 1);
  EXPECT_EQ(spares_beside(request, 4), 2);
}

}  // namespace
}  // namespace planner
