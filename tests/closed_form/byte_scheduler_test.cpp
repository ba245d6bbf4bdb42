// Sums of gradients by priority, across the end of a step (ByteScheduler, Peng et al., SOSP 2019), of equal layers; and what an article says of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/sim/engine/layered_steps.h"

namespace sim {
namespace {

using testing::LayeredSteps;
using testing::LayerTimes;
using Sums = testing::LayeredSteps::Sums;

struct Case {
  std::int32_t layers = 0;
  LayerTimes times;
};
// Of n layers, all forwards f, all backwards b, all sums c, one after the other. Sums that take longer than all backwards, c >= (n - 1) b and c >= f,
// keep the link busy: the last layer's goes first, then the first layers' as they are needed, the last but one's last. Behind that come its forward,
// the last forward and the last layer's backward, before there is something to send again.
//
//   link      | n-1 |  0  |  1  | ...       | n-2 |                 | n-1 | ...
//   compute   B n-2 ... B 0 |F 0|   |F 1| ...      |F n-2|F n-1|B n-1|
constexpr Case kCases[] = {{3, {10, 20, 40}}, {4, {10, 20, 60}}, {8, {7, 11, 80}}, {16, {10, 20, 1000}}};

TEST(ByteScheduler, BoundByItsLinkAStepIsItsSumsAndThreePassesOfALayer) {
  for (const auto& [layers, times] : kCases) {
    const PlayedStep played = LayeredSteps(layers, times, Sums::ByPriority).play();
    EXPECT_EQ(played.run.step_time.count(), layers * times.sum + 2 * times.forward + times.backward) << layers << " layers";
    EXPECT_EQ(played.cycle, 1);
  }
}

// As they come, or up to a barrier: all forwards wait for the first layer's sum, which comes last.
TEST(ByteScheduler, WithoutPrioritiesAllForwardsWait) {
  for (const auto& [layers, times] : kCases) {
    const std::int64_t expected = layers * (times.sum + times.forward) + times.backward;
    const LayeredSteps in_order(layers, times, Sums::InOrder);
    EXPECT_EQ(in_order.play().run.step_time.count(), expected) << layers << " layers";
    EXPECT_EQ(in_order.alone().count(), expected) << layers << " layers";
  }
}

// Sums that are shorter than a backward hide behind it, but for the first layer's: priorities have nothing to gain.
TEST(ByteScheduler, BoundByComputingOneSumIsSeen) {
  for (const Sums sums : {Sums::ByPriority, Sums::InOrder})
    EXPECT_EQ(LayeredSteps(6, {.forward = 10, .backward = 20, .sum = 15}, sums).play().run.step_time.count(), 6 * 30 + 15);
}

// No step is shorter than its busiest resource.
TEST(ByteScheduler, TheBusiestResourceIsABound) {
  for (std::int64_t sum = 1; sum < 200; sum += 7)
    for (const Bytes credit : {Bytes(1), LayeredSteps::kPart * 3}) {
      const SimTime step = LayeredSteps(5, {.forward = 10, .backward = 20, .sum = sum}, Sums::ByPriority, credit).play().run.step_time;
      EXPECT_GE(step.count(), credit == Bytes(1) ? std::max<std::int64_t>(5 * 30, 5 * sum) : 5 * 30) << sum;
    }
}

// The article's model, as it is written there: s(i+1) = max(s(i) + tc(i), s(i-1) + tn(i-1)), of computing tc and communicating tn. Not the scheduler's
// algorithm: it knows neither queue nor credit, and where the network is the slower one it pays for every second layer alone.
std::vector<std::int64_t> article_recurrence(const std::vector<LayerTimes>& layers) {
  std::vector<std::int64_t> starts{0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t computed = starts[i] + layers[i].forward + layers[i].backward;
    starts.push_back(i == 0 ? computed : std::max(computed, starts[i - 1] + layers[i - 1].sum));
  }
  return starts;
}

TEST(ByteScheduler, TheArticlesRecurrenceIsAnotherModel) {
  const std::int32_t layers = 16;
  const LayerTimes computing{.forward = 10, .backward = 20, .sum = 20}, sending{.forward = 10, .backward = 20, .sum = 600};
  const auto article = [&](const LayerTimes& times) { return article_recurrence(std::vector<LayerTimes>(layers, times)).back(); };
  const auto step = [&](const LayerTimes& times) { return LayeredSteps(layers, times, Sums::ByPriority).play().run.step_time.count(); };
  EXPECT_EQ(article(computing), layers * 30);
  EXPECT_EQ(step(computing), layers * 30 + 20);  // the same, but for the sum that nothing hides
  EXPECT_EQ(article(sending), layers / 2 * sending.sum);
  EXPECT_EQ(step(sending), layers * sending.sum + 2 * 10 + 20);  // twice as long: every layer's gradients cross the link
}

}  // namespace
}  // namespace sim
