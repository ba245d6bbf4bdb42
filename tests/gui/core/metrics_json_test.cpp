#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "gui/core/metrics.h"

namespace gui {
namespace {

class Metrics : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& text) { std::ofstream(folder_ + "/metrics.ndjson", std::ios::app) << text; }
  std::string folder_ = testing::TempDir() + "gui_metrics";
};

TEST_F(Metrics, FollowWhatIsWritten) {
  MetricsFollower follower(folder_);
  EXPECT_FALSE(follower.look());
  write("{\"step\": 1, \"loss\": 2.5, \"tokens_per_second\": 100}\n{\"step\": 2, \"lo");
  EXPECT_TRUE(follower.look());
  ASSERT_EQ(follower.steps().size(), 1u);
  EXPECT_DOUBLE_EQ(follower.steps()[0].loss, 2.5);
  write("ss\": 2.25}\n");
  EXPECT_TRUE(follower.look());
  ASSERT_EQ(follower.steps().size(), 2u);
  EXPECT_DOUBLE_EQ(follower.steps()[1].loss, 2.25);
}

TEST_F(Metrics, CountWhatIsMalformed) {
  write("not json\n[1]\n{\"step\": \"x\"}\n{\"step\": 3, \"loss\": null}\n");
  MetricsFollower follower(folder_);
  EXPECT_TRUE(follower.look());
  EXPECT_EQ(follower.malformed(), 3);
  EXPECT_EQ(follower.steps().size(), 1u);
}

TEST_F(Metrics, ARunThatIsResumedGoesThatWayAgain) {
  write("{\"step\": 1}\n{\"step\": 2, \"loss\": 5}\n{\"step\": 3}\n");
  MetricsFollower follower(folder_);
  EXPECT_TRUE(follower.look());
  write("{\"step\": 2, \"loss\": 4}\n");
  EXPECT_TRUE(follower.look());
  ASSERT_EQ(follower.steps().size(), 2u);
  EXPECT_DOUBLE_EQ(follower.steps()[1].loss, 4);
}

TEST_F(Metrics, WhatIsGoneStaysAndWhatIsWrittenAnewReplacesIt) {
  write("{\"step\": 1}\n{\"step\": 2}\n");
  MetricsFollower follower(folder_);
  EXPECT_TRUE(follower.look());
  std::filesystem::remove(folder_ + "/metrics.ndjson");
  EXPECT_FALSE(follower.look());
  EXPECT_EQ(follower.steps().size(), 2u);
  write("{\"step\": 1}\n");
  EXPECT_TRUE(follower.look());
  EXPECT_EQ(follower.steps().size(), 1u);
}

TEST_F(Metrics, TimeLeftFallsAlsoBehindAResumption) {
  std::vector<StepMetrics> steps;
  EXPECT_FALSE(timeLeft(steps, 200));
  double before = 1e9;
  for (int step = 1; step <= 132; ++step) steps.push_back({.step = step, .time = sim::Seconds(step == 1 ? 60 : 1)});
  for (int step = 133; step <= 200; ++step) {
    steps.push_back({.step = step, .time = sim::Seconds(step == 133 ? 60 : 1)});  // the first behind a resumption warms up again
    const double left = timeLeft(steps, 200)->count();
    EXPECT_LT(left, before);
    before = left;
  }
  EXPECT_EQ(before, 0);
}

TEST_F(Metrics, AMegabyteAtATimeAndNoLongerLine) {
  std::string text(3 << 20, 'x');  // no line of metrics
  text += '\n';
  constexpr int kSteps = 40000;
  for (int step = 1; step <= kSteps; ++step) text += "{\"step\": " + std::to_string(step) + ", \"loss\": 2, \"tokens_per_second\": 1}\n";
  write(text);
  MetricsFollower follower(folder_);
  follower.look();
  EXPECT_TRUE(follower.hasMore());
  while (follower.hasMore()) follower.look();
  EXPECT_EQ(follower.steps().size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(follower.malformed(), 1);
}

}  // namespace
}  // namespace gui
