#include "cli/followed_search.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

namespace cli {
namespace {

planner::SearchResult of(std::int64_t candidates) {
  planner::SearchResult result;
  result.candidates = candidates;
  return result;
}

planner::SearchResult through(const planner::SearchRequest&, const planner::Progress&, const std::atomic<bool>*) { return of(7); }

// Ends when it is told to, with what it has then.
planner::SearchResult endless(const planner::SearchRequest&, const planner::Progress& progress, const std::atomic<bool>* cancel) {
  std::int64_t looks = 0;
  while (!*cancel) {
    progress({.done = ++looks, .all = 0, .best = 1, .least = 0.5});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return of(looks);
}

TEST(FollowedSearch, IsThroughWithoutABudget) {
  const FollowedSearch search = followed_search(through, {}, "plan", std::nullopt);
  EXPECT_EQ(search.result.candidates, 7);
  EXPECT_FALSE(search.ended);
}

TEST(FollowedSearch, EndsWithItsBudgetOnceItHasAnAnswer) {
  const FollowedSearch search = followed_search(endless, {}, "plan", sim::Seconds(0.05));
  EXPECT_GT(search.result.candidates, 0);
  EXPECT_TRUE(search.ended);
}

}  // namespace
}  // namespace cli
