#include "planner/elastic.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/planner/problems.h"

namespace planner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SearchResult ask(const SearchRequest& request, std::int32_t) { return search(request); }

std::vector<sim::Violation> wrong(const std::string& text) {
  std::vector<sim::Violation> violations;
  const auto range = node_range(text, gpu_cluster({.devices = 64, .devices_per_node = 8}), violations);
  EXPECT_EQ(range.has_value(), violations.empty());
  return violations;
}

TEST(Elastic, RangesAreOfNodesThatAreThere) {
  std::vector<sim::Violation> violations;
  const auto range = node_range("8..3", gpu_cluster({.devices = 64, .devices_per_node = 8}), violations);
  ASSERT_TRUE(range && violations.empty());
  EXPECT_EQ(range->most, 8);
  EXPECT_EQ(range->least, 3);
  for (const char* text : {"", "8..", "..8", "3..8", "8..0", "8...3", "a..b", "9..8", "16 .. 8"}) EXPECT_EQ(wrong(text).size(), 1U) << text;
  EXPECT_THAT(wrong("7"), IsEmpty());
}

// Each is what a search of its nodes finds, and takes over the training of any other.
TEST(Elastic, PlansKeepTheTrainingAndAreTheBestOfTheirNodes) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 2});
  request.gap = 0;
  const std::vector<ElasticPlan> plans = search_elastic(request, {.most = 4, .least = 1}, ask);
  ASSERT_EQ(plans.size(), 4U);
  for (const ElasticPlan& plan : plans) {
    ASSERT_TRUE(plan.best) << plan.nodes;
    EXPECT_EQ(plan.best->plan.mesh.ranks(), 2 * plan.nodes);
    EXPECT_THAT(sim::differences(plans.front().best->plan, plan.best->plan).training, IsEmpty());
    SearchRequest alone = request;
    alone.cluster.devices = 2 * plan.nodes;
    EXPECT_EQ(plan.best->result.step_time, search(alone).ranked.front().result.step_time);
  }
  EXPECT_EQ(plans.back().rather, std::nullopt);
}

TEST(Elastic, NodesThatDivideNothingAreSaidToBeSlower) {
  SearchRequest request = small_request({.devices = 14, .devices_per_node = 2});
  const std::vector<ElasticPlan> plans =
      search_elastic(request, {.most = 7, .least = 4}, ask);  // 14 ranks: of 8 samples and 4 blocks two are had
  ASSERT_EQ(plans.size(), 4U);
  const auto step = [&](std::size_t at) { return plans[at].best->result.step_time; };
  for (std::size_t at = 0; at < 3; ++at) {
    if (!plans[at].best) continue;
    bool is_slower = false;
    for (std::size_t fewer = at + 1; fewer < plans.size(); ++fewer) is_slower = is_slower || (plans[fewer].best && step(fewer) < step(at));
    EXPECT_EQ(plans[at].rather.has_value(), is_slower) << plans[at].nodes;
  }
  EXPECT_TRUE(std::ranges::any_of(plans, [](const ElasticPlan& plan) { return plan.rather || !plan.best; }));
}

TEST(Elastic, EachKnowsHowManyAreLeft) {
  std::vector<std::int32_t> devices, left;
  search_elastic(small_request({.devices = 8, .devices_per_node = 2}), {.most = 4, .least = 2},
                 [&](const SearchRequest& one, std::int32_t more) {
                   devices.push_back(one.cluster.devices), left.push_back(more);
                   return SearchResult{};
                 });
  EXPECT_THAT(devices, ElementsAre(8, 6, 4));
  EXPECT_THAT(left, ElementsAre(3, 2, 1));
}

TEST(Elastic, WhatIsCanceledAsksNoFurther) {
  const std::atomic<bool> cancel{true};
  EXPECT_THAT(search_elastic(small_request({.devices = 8, .devices_per_node = 2}), {.most = 4, .least = 1}, ask, &cancel), IsEmpty());
}

}  // namespace
}  // namespace planner
