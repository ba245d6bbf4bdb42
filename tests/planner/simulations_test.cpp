#include "planner/simulations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

// Small and large plans, so that they are not simulated in their order.
TEST(Simulations, ResultsLieWhereTheirPlansDo) {
  const SearchRequest request = small_request({.devices = 4});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  std::vector<sim::ParallelPlan> plans;
  for (const sim::DeviceMesh& mesh :
       {sim::DeviceMesh{.data = 4}, sim::DeviceMesh{.pipeline = 4}, sim::DeviceMesh{.data = 2, .pipeline = 2}})
    plans.push_back(make_plan(request, {.mesh = mesh}));
  const auto results = simulate_all(model, plans, nullptr);
  ASSERT_EQ(results.size(), plans.size());
  for (std::size_t at = 0; at < plans.size(); ++at) {
    ASSERT_TRUE(results[at].result);
    EXPECT_FALSE(results[at].refused);
    EXPECT_EQ(results[at].result->step_time, sim::simulate(model, plans[at]).step_time);
  }
}

TEST(Simulations, NoneBeginsWhenCanceled) {
  const SearchRequest request = small_request({.devices = 1});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const std::atomic<bool> cancel{true};
  EXPECT_FALSE(simulate_all(model, {make_plan(request, {})}, &cancel).front().result);
}

TEST(Simulations, OneThatOutlastsTheClockStopsNoOther) {
  SearchRequest request = small_request({.devices = 2});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  std::vector<sim::ParallelPlan> plans{make_plan(request, {.mesh = {.data = 2}}), make_plan(request, {.mesh = {.data = 2}})};
  plans.front().cluster.hardware.kernel_overhead = sim::Seconds(1e30);
  const auto results = simulate_all(model, plans, nullptr);
  EXPECT_FALSE(results.front().result);
  ASSERT_TRUE(results.front().refused);
  EXPECT_NE(std::string(results.front().refused->what()).find("106 days"), std::string::npos);
  EXPECT_TRUE(results.back().result);
}

}  // namespace
}  // namespace planner
