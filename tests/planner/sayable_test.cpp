#include "planner/sayable.h"

#include <gtest/gtest.h>

#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

const PlanCandidate kFull{.recompute = sim::Recompute::Full};

TEST(Sayable, EverythingIsWhereNoProgramIsNamed) { EXPECT_FALSE(why_not_sayable(small_request({.devices = 8}), kFull)); }

TEST(Sayable, ARefusedWordIs) {
  SearchRequest request = small_request({.devices = 8});
  request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.recompute == sim::Recompute::Full) refused.push_back({"/recompute", "there is no word for it", "leave it out"});
    return refused;
  };
  ASSERT_TRUE(why_not_sayable(request, kFull));
  EXPECT_EQ(why_not_sayable(request, kFull)->where, "/recompute");
}

// What is wrong with every plan says nothing of the word.
TEST(Sayable, ARefusedNetworkIsNot) {
  SearchRequest request = small_request({.devices = 8});
  request.why_not = [](const sim::ParallelPlan&) { return std::vector<sim::Violation>{{"/model/activation", "is another", "change it"}}; };
  EXPECT_FALSE(why_not_sayable(request, kFull));
}

TEST(Sayable, WeightsOnTheHostAreAskedOfStage3) {
  SearchRequest request = small_request({.devices = 8});
  request.offload = true;
  const auto num_on_host = [&] {
    const std::vector<PlanCandidate> all = enumerate(request).candidates.all();
    return std::ranges::count_if(all, &PlanCandidate::offload_parameters);
  };
  EXPECT_GT(num_on_host(), 0);
  request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.offload_parameters) refused.push_back({"/offload_parameters", "weights stay on the device there", "leave it out"});
    return refused;
  };
  EXPECT_EQ(num_on_host(), 0);
  request.fixed = {{"offload_parameters", "true"}};  // taken at its word: judged, and refused with the program's reason
  EXPECT_GT(num_on_host(), 0);
}

// A program that reduces after each microbatch unless there are several stages, and keeps no weights gathered.
TEST(Sayable, WordsOfShardingAreAskedTogetherAndByKindOfMesh) {
  SearchRequest request = small_request({.devices = 8});
  std::int64_t asked = 0;
  request.why_not = [&](const sim::ParallelPlan& plan) {
    ++asked;
    std::vector<sim::Violation> refused;
    if (plan.zero_stage == 3 && !plan.reshard_after_forward)
      refused.push_back({"/reshard_after_forward", "it always does", "leave it out"});
    if (plan.zero_stage == 3 && plan.mesh.pipeline == 1 && plan.accumulation == sim::Accumulation::ReduceLast)
      refused.push_back({"/accumulation", "it reduces each", "say reduce_each"});
    return refused;
  };
  SayableSharding sharding(request);
  PlanCandidate candidate{.mesh = {.data = 8}};
  EXPECT_FALSE(sharding.why_not(candidate));
  candidate.zero_stage = 3;
  ASSERT_TRUE(sharding.why_not(candidate));
  EXPECT_EQ(sharding.why_not(candidate)->where, "/accumulation");
  candidate.mesh = {.data = 4, .pipeline = 2};
  EXPECT_FALSE(sharding.why_not(candidate));
  candidate.reshard = false;
  ASSERT_TRUE(sharding.why_not(candidate));
  EXPECT_EQ(sharding.why_not(candidate)->where, "/reshard_after_forward");
  const std::int64_t before = asked;
  candidate.mesh = {.data = 2, .pipeline = 4};
  EXPECT_TRUE(sharding.why_not(candidate));
  EXPECT_EQ(asked, before);
}

}  // namespace
}  // namespace planner
