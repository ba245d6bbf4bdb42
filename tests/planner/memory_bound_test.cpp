#include "planner/memory_bound.h"

#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

MemoryBound bound_of(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  std::vector<std::vector<sim::Bucket>> buckets;
  for (sim::StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) buckets.push_back(make_buckets(model, plan, stage));
  return memory_bound(model, plan, activation_memory(model, plan), stage_weights(model, plan, buckets), stage_orders(plan));
}

TEST(MemoryBound, IsNeverAboveTheSimulatedPeakAndNearIt) {
  double nearest = 0, sum = 0;
  std::int64_t plans = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    const sim::Bytes peak = simulate(model, plan).peak_memory, bound = bound_of(model, plan).peak;
    EXPECT_LE(bound.value(), peak.value());
    sum += bound / peak;
    nearest = std::max(nearest, bound / peak);
    ++plans;
  });
  EXPECT_GT(sum / static_cast<double>(plans), 0.95);
  EXPECT_EQ(nearest, 1.0);
}

}  // namespace
}  // namespace planner
