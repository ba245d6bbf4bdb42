#include "planner/simulations.h"

#include <gtest/gtest.h>

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
    ASSERT_TRUE(results[at]);
    EXPECT_EQ(results[at]->step_time, sim::simulate(model, plans[at]).step_time);
  }
}

TEST(Simulations, NoneBeginsWhenCanceled) {
  const SearchRequest request = small_request({.devices = 1});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const std::atomic<bool> cancel{true};
  EXPECT_FALSE(simulate_all(model, {make_plan(request, {})}, &cancel).front());
}

}  // namespace
}  // namespace planner
