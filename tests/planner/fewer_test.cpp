#include "planner/fewer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "planner/outlook.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using ::testing::ElementsAre;

TEST(Fewer, CountsAreWholeNodesDownToOne) {
  SearchRequest request = small_request({.devices = 64, .devices_per_node = 8});
  request.fewer = true;
  EXPECT_THAT(device_counts(request), ElementsAre(64, 48, 32, 24, 16, 8, 4, 2, 1));
  request.cluster.devices = 24;
  EXPECT_THAT(device_counts(request), ElementsAre(24, 4, 2, 1));
  request.cluster.devices = 1;
  EXPECT_THAT(device_counts(request), ElementsAre(1));
}

// What a search of each number by itself finds, ranked together.
std::vector<double> one_by_one(const SearchRequest& request) {
  std::vector<double> all;
  for (const std::int32_t devices : device_counts(request)) {
    SearchRequest one = request;
    one.fewer = false;
    one.cluster.devices = devices;
    one.gap = 0;
    for (const RankedPlan& plan : search(one).ranked) all.push_back(plan.measure);
  }
  std::sort(all.begin(), all.end());
  if (std::ssize(all) > request.top) all.resize(static_cast<std::size_t>(request.top));
  return all;
}

TEST(Fewer, RanksAreThoseOfAllNumbersTogether) {
  std::mt19937 random(7);
  std::int64_t on_fewer = 0;
  for (int round = 0; round < 6; ++round) {
    SearchRequest request = random_request(random);
    request.workload.sequence = 64;
    request.offload = true;  // else each number asks for the host by itself
    request.top = 4;
    request.gap = 0;
    request.fewer = true;
    for (const Objective objective : {Objective::Step, Objective::Cost, Objective::Energy}) {
      request.objective = objective;
      const SearchResult found = search_fewer(request);  // in the orders of schedules, as each number by itself
      std::vector<double> measures;
      for (const RankedPlan& plan : found.ranked) measures.push_back(plan.measure);
      const std::vector<double> expected = one_by_one(request);
      ASSERT_EQ(measures.size(), expected.size());
      for (std::size_t at = 0; at < expected.size(); ++at) EXPECT_NEAR(measures[at], expected[at], 1e-6 * expected[at]);
      for (const RankedPlan& plan : found.ranked) EXPECT_EQ(plan.plan.mesh.ranks(), plan.plan.cluster.devices);
      EXPECT_LE(found.gap.value_or(0), 1e-6);
      if (!found.ranked.empty() && found.ranked.front().plan.cluster.devices < request.cluster.devices) ++on_fewer;
    }
  }
  EXPECT_GT(on_fewer, 0);  // it is a choice
}

// Nodes held back train slower and wait less: how many is found as if each number had been asked for.
TEST(Fewer, SpareNodesAreAChoice) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 1});
  request.workload.global_batch = 840;
  request.objective = Objective::TimeToTrain;
  request.whole = {.steps = 100'000,
                   .reliability = {.mean_time_between_failures = sim::Seconds(40'000),
                                   .restart = sim::Seconds(10),
                                   .save = sim::Seconds(1),
                                   .repair = sim::Seconds(10'000)},
                   .most_spares = 3};
  request.gap = 0;
  const SearchResult found = search_as_asked(request);
  ASSERT_FALSE(found.ranked.empty());
  EXPECT_THAT(device_counts(request), ElementsAre(8, 7, 6, 5));
  double least = found.ranked.front().measure * 2;
  for (const std::int32_t spares : {0, 1, 2, 3}) {
    SearchRequest one = request;
    one.cluster.devices = 8 - spares;
    one.whole.most_spares = 0;
    one.whole.reliability.spares = spares;
    for (const RankedPlan& plan : search(one).ranked) least = std::min(least, plan.measure);
  }
  EXPECT_DOUBLE_EQ(found.ranked.front().measure, least);
  EXPECT_LT(found.ranked.front().plan.cluster.devices, 8);
  EXPECT_EQ(outlook_of(request, found.ranked.front()).spares, 8 - found.ranked.front().plan.cluster.devices);
  EXPECT_NEAR(outlook_of(request, found.ranked.front()).time.count(), least, 1e-6 * least);
}

TEST(Fewer, TheFrontIsThatOfThePlansShown) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 4});
  request.fewer = true;
  request.top = 20;
  const SearchResult found = search_as_asked(request);
  ASSERT_GT(found.ranked.size(), found.pareto.size()) << "some plan is both slower and larger than another";
  ASSERT_FALSE(found.pareto.empty());
  EXPECT_EQ(found.pareto.front().result.step_time, found.ranked.front().result.step_time);
  for (std::size_t at = 1; at < found.pareto.size(); ++at) {
    EXPECT_GT(found.pareto[at].result.step_time, found.pareto[at - 1].result.step_time);
    EXPECT_LT(found.pareto[at].result.peak_memory, found.pareto[at - 1].result.peak_memory);
  }
}

TEST(Fewer, SaysWhatEachOtherPlanCosts) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 4});
  request.fewer = true;
  request.objective = Objective::Cost;
  const SearchResult found = search_as_asked(request);
  ASSERT_GT(found.ranked.size(), 1U);
  EXPECT_TRUE(found.ranked[0].why_not_best.empty());
  EXPECT_THAT(found.ranked[1].why_not_best, ::testing::HasSubstr("more device time a step"));
}

// A family that is out is one of a number of devices, and its bound is held against the last rank of all in what plans are ranked by.
TEST(Fewer, SaysWhatBeatsAFamily) {
  for (const Objective objective : {Objective::Step, Objective::Cost, Objective::Energy}) {
    SearchRequest request = small_request({.devices = 8, .devices_per_node = 4});
    request.fewer = true;
    request.objective = objective;
    request.top = 3;
    const SearchResult found = search_as_asked(request);
    const std::string last = measure_text(objective, found.ranked.back().measure);
    int beaten = 0;
    for (const Exclusion& out : found.excluded) {
      EXPECT_THAT(out.family, ::testing::StartsWith("devices="));
      if (out.code != "bound") continue;
      ++beaten;
      EXPECT_EQ(out.rule, words_of(objective).bound);
      EXPECT_EQ(out.arguments[1].value, last);
      EXPECT_GE(out.bound, found.ranked.back().measure * (1 - request.gap)) << out.family;
    }
    EXPECT_GT(beaten, 0);
  }
}

}  // namespace
}  // namespace planner
