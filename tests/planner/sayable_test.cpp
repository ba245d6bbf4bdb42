#include "planner/sayable.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace planner
