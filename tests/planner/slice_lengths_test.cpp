#include "planner/slice_lengths.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

namespace planner {
namespace {

using sim::SimTime;

// A base for each slice, a part of its tokens, a part of what they attend to.
SliceTime time_of(std::int64_t base, std::int64_t each, std::int64_t pair) {
  return [=](SliceSpan slice) { return SimTime(base + each * slice.tokens + pair * slice.tokens * (slice.before + slice.tokens)); };
}

void for_each_cut(std::int64_t steps, std::vector<std::int64_t>& cut, const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  if (steps == 0) return visit(cut);
  for (std::int64_t first = 1; first <= steps; ++first) {
    cut.push_back(first * 8);
    for_each_cut(steps - first, cut, visit);
    cut.pop_back();
  }
}

// All 2^(k - 1) cuts of k steps.
TEST(SliceLengths, AreTheBestOfAllCuts) {
  std::mt19937 random(7);
  const auto draw = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1)); };
  for (int trial = 0; trial < 60; ++trial) {
    const std::int64_t steps = 1 + draw(8);
    const SampleCut problem{.tokens = steps * 8, .stages = static_cast<std::int32_t>(1 + draw(11))};
    const SliceTime time = time_of(draw(2000), draw(50), draw(3));
    SimTime least = SimTime::max();
    std::vector<std::int64_t> cut;
    for_each_cut(steps, cut, [&](const auto& lengths) { least = std::min(least, pipeline_time(lengths, time, problem.stages)); });
    const SliceLengths found = best_slices(problem, time);
    EXPECT_EQ(found.time, least) << trial;
    EXPECT_EQ(pipeline_time(found.tokens, time, problem.stages), found.time);
    EXPECT_EQ(std::accumulate(found.tokens.begin(), found.tokens.end(), std::int64_t{0}), problem.tokens);
  }
}

TEST(SliceLengths, OneStageWantsOneSlice) {
  EXPECT_THAT(best_slices({.tokens = 64, .stages = 1}, time_of(100, 10, 0)).tokens, ::testing::ElementsAre(64));
}

// Later slices see more keys, so they are shorter; an even cut is worse.
TEST(SliceLengths, LaterSlicesAreShorterWhereAttentionIsLong) {
  const SliceTime time = time_of(1000, 1, 1);
  const SliceLengths found = best_slices({.tokens = 256, .stages = 8}, time);
  ASSERT_GT(found.tokens.size(), 2u);
  EXPECT_GT(found.tokens.front(), found.tokens.back());
  EXPECT_LT(found.time, pipeline_time(std::vector<std::int64_t>(4, 64), time, 8));
}

}  // namespace
}  // namespace planner
