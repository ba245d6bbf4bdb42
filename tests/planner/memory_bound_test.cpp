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

TEST(MemoryBound, IsNeverAboveTheSimulatedPeakOfFrozenModules) {
  std::int32_t drawn = 0;
  double sum = 0;
  on_every_plan(frozen_requests(), [&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    sim::ParallelPlan ahead = plan;
    ahead.prefetch = drawn++ % (sim::kMostPrefetched + 1);
    const sim::Bytes peak = simulate(model, ahead).peak_memory, bound = bound_of(model, ahead).peak;
    EXPECT_LE(bound.value(), peak.value()) << ahead.prefetch;
    sum += bound / peak;
  });
  EXPECT_GT(sum / drawn, 0.9);
}

// Whoever runs: what each program keeps is in the bound as in the simulation.
TEST(MemoryBound, IsNeverAboveTheSimulatedPeakOfAnyProgram) {
  std::vector<sim::SoftwareStack> programs;
  for (const std::string_view name : {"megatron-lm-2022", "torchtitan", "megatron-deepspeed", "nanotron", "megatron-core-2025", "plain",
                                      "fsdp1", "torchtitan-2025", "aleph-alpha-scaling", "automodel", "xla"})
    programs.push_back(sim::load_software(std::string(name)));
  std::size_t at = 0;
  double sum = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    sim::ParallelPlan by_program = plan;
    by_program.cluster.software = programs[at++ % programs.size()];
    const sim::Bytes peak = simulate(model, by_program).peak_memory, bound = bound_of(model, by_program).peak;
    EXPECT_LE(bound.value(), peak.value()) << by_program.cluster.software.name;
    sum += bound / peak;
  });
  EXPECT_GT(sum / static_cast<double>(at), 0.95);
}

}  // namespace
}  // namespace planner
