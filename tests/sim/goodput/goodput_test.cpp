#include "sim/goodput/goodput.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

Training thousand_steps() {
  Training training;
  training.steps = 1000;
  training.devices = 100;
  training.step = {.usual = Seconds(10), .straggling = {Seconds(15), Seconds(20)}};
  training.reliability = {
      .mean_time_between_failures = Seconds(500'000), .restart = Seconds(300), .save = Seconds(30), .checkpoint_interval = 50};
  return training;
}

TEST(Goodput, WithoutTroubleTimeIsStepsAndSaves) {
  Training training = thousand_steps();
  training.reliability.mean_time_between_failures = Seconds(0);
  const Goodput goodput = train(training);
  EXPECT_DOUBLE_EQ(goodput.seconds.mean, 1000 * 10 + 20 * 30);
  EXPECT_DOUBLE_EQ(goodput.seconds.low, goodput.seconds.high);
  EXPECT_EQ(goodput.failures.mean, 0);
  training.reliability.checkpoint_interval = 0;
  EXPECT_DOUBLE_EQ(train(training).share.mean, 1.0);
}

TEST(Goodput, PartsAddUpToTheWhole) {
  Training training = thousand_steps();
  training.reliability.stragglers_per_day = 2;
  training.reliability.straggling = Seconds(600);
  training.reliability.repair = Seconds(3000);
  const Goodput goodput = train(training);
  EXPECT_GT(goodput.waiting, 0);
  EXPECT_NEAR(goodput.useful + goodput.slowed + goodput.saving + goodput.lost + goodput.restarting + goodput.waiting, goodput.seconds.mean,
              1e-6 * goodput.seconds.mean);
  EXPECT_GT(goodput.slowed, 0);
  EXPECT_GT(goodput.lost, 0);
  EXPECT_EQ(goodput.unfinished, 0);
}

TEST(Goodput, AStragglerThatNeverEndsSlowsEveryStep) {
  Training training;
  training.steps = 10'000;
  training.devices = 1000;
  training.step = {.usual = Seconds(1), .straggling = {Seconds(1.5)}};
  training.reliability.stragglers_per_day = 1000;
  training.reliability.straggling = Seconds(1e9);
  training.draws = 5;
  EXPECT_NEAR(train(training).seconds.mean, 15'000, 15);
}

TEST(Goodput, TheBestIntervalLosesLess) {
  Training training = thousand_steps();
  training.steps = 20'000;
  const std::int64_t best = train(training).best_interval;
  EXPECT_EQ(best, 53);  // to first order sqrt(2 x 30 s x 5000 s) = 54.8 steps
  const auto mean = [&](std::int64_t interval) {
    training.reliability.checkpoint_interval = interval;
    return train(training).seconds.mean;
  };
  const double at_best = mean(best);
  EXPECT_LT(at_best, mean(best * 4));
  EXPECT_LT(at_best, mean(best / 4));
}

TEST(Goodput, SameSeedSameNumbers) {
  const Training training = thousand_steps();
  EXPECT_EQ(train(training).seconds.mean, train(training).seconds.mean);
  Training other = training;
  other.seed = 2;
  EXPECT_NE(train(training).seconds.mean, train(other).seconds.mean);
}

TEST(Goodput, GivesUpOnWhatCannotEnd) {
  Training training = thousand_steps();
  training.reliability.mean_time_between_failures = Seconds(100);  // one a second, a restart takes five minutes
  training.reliability.restart = Seconds(0.5);
  training.draws = 3;
  EXPECT_EQ(train(training).unfinished, 3);
}

}  // namespace
}  // namespace sim
