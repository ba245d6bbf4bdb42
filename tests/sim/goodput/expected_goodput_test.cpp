#include "sim/goodput/expected_goodput.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sim {
namespace {

Reliability failing() {
  return {.mean_time_between_failures = Seconds(500'000), .restart = Seconds(300), .save = Seconds(30), .checkpoint_interval = 50};
}

// Drawn: steps of 10 s on 100 devices, as many as fill whole intervals.
double drawn(const Reliability& reliability) {
  Training training{.steps = 20'000, .devices = 100, .step = {.usual = Seconds(10), .straggling = {}}, .reliability = reliability};
  training.draws = 400;
  return train(training).seconds.mean / 20'000;
}

TEST(ExpectedGoodput, IsTheMeanOfWhatIsDrawn) {
  Reliability reliability = failing();
  for (const double restart : {0.0, 300.0, 2000.0})
    for (const std::int64_t interval : {5, 50, 400}) {
      reliability.restart = Seconds(restart), reliability.checkpoint_interval = interval;
      const double expected = ExpectedGoodput(reliability, 100).step(Seconds(10)).count();
      EXPECT_NEAR(drawn(reliability), expected, 0.01 * expected) << restart << " s, " << interval << " steps";
    }
}

TEST(ExpectedGoodput, CountsWhatWaitsForRepair) {
  Reliability reliability = failing();
  for (const double repair : {1000.0, 20'000.0})
    for (const std::int32_t spares : {0, 1, 4}) {
      reliability.repair = Seconds(repair), reliability.spares = spares;
      const ExpectedGoodput goodput(reliability, 100);
      const double expected = goodput.step(Seconds(10)).count();
      EXPECT_NEAR(drawn(reliability), expected, 0.02 * expected) << repair << " s, " << spares << " spares";
      EXPECT_GT(goodput.waiting(), 0);
    }
}

TEST(ExpectedGoodput, WithoutSparesEachFailureWaitsForItsRepair) {
  Reliability reliability = failing();
  const double without = ExpectedGoodput(reliability, 100).step(Seconds(10)).count();
  reliability.repair = Seconds(1000);  // a fifth of what is between failures
  EXPECT_NEAR(ExpectedGoodput(reliability, 100).step(Seconds(10)).count(), without * 1.2, 1e-9 * without);
}

TEST(ExpectedGoodput, TheIntervalIsTheBestOfAll) {
  Reliability reliability = failing();
  for (const double step : {0.01, 10.0, 300.0, 9000.0}) {
    reliability.checkpoint_interval = 0;
    const std::int64_t best = ExpectedGoodput(reliability, 100).interval(Seconds(step));
    const double least = ExpectedGoodput(reliability, 100).step(Seconds(step)).count();
    for (const std::int64_t other : {std::int64_t{1}, best - 1, best + 1, 2 * best, best / 2}) {
      if (other < 1) continue;
      reliability.checkpoint_interval = other;
      EXPECT_GE(ExpectedGoodput(reliability, 100).step(Seconds(step)).count(), least) << step << " s, " << other << " against " << best;
    }
  }
}

TEST(ExpectedGoodput, ALongerStepTakesNoLess) {
  Reliability reliability = failing();
  reliability.checkpoint_interval = 0;
  const ExpectedGoodput goodput(reliability, 100);
  double before = 0;
  for (double step = 1; step < 2000; step *= 1.001) {
    const double now = goodput.step(Seconds(step)).count();
    EXPECT_GE(now, before);
    EXPECT_GE(now, step);
    before = now;
  }
}

TEST(ExpectedGoodput, WhatNeverFailsSavesOnlyWhereItIsAsked) {
  Reliability reliability = failing();
  reliability.mean_time_between_failures = {};
  EXPECT_DOUBLE_EQ(ExpectedGoodput(reliability, 100).step(Seconds(10)).count(), 10 + 30.0 / 50);
  reliability.checkpoint_interval = 0;
  EXPECT_EQ(ExpectedGoodput(reliability, 100).interval(Seconds(10)), 0);
  EXPECT_DOUBLE_EQ(ExpectedGoodput(reliability, 100).step(Seconds(10)).count(), 10);
}

TEST(ExpectedGoodput, SavesForNothingComeWithEachStep) {
  Reliability reliability = failing();
  reliability.save = {}, reliability.checkpoint_interval = 0;
  EXPECT_EQ(ExpectedGoodput(reliability, 100).interval(Seconds(10)), 1);
}

TEST(ExpectedGoodput, WhatCannotEndIsInfinite) {
  Reliability reliability = failing();
  reliability.restart = Seconds(1e8);
  EXPECT_EQ(ExpectedGoodput(reliability, 100).step(Seconds(10)).count(), std::numeric_limits<double>::infinity());
}

// Of tables of Erlang's formula.
TEST(ExpectedGoodput, LossIsErlangs) {
  EXPECT_DOUBLE_EQ(erlang_loss({1, 1}), 0.5);
  EXPECT_NEAR(erlang_loss({2, 1}), 0.2, 1e-12);
  EXPECT_NEAR(erlang_loss({10, 5}), 0.018385, 1e-6);
}

}  // namespace
}  // namespace sim
