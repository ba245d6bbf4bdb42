#include "cli/checked.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

Checked of(const sim::ParallelPlan& plan) {
  Subject subject;
  subject.plan = plan;
  return checked(std::move(subject), sim::usable_memory(plan.cluster));
}

double share_of(const Checked& checked, const std::string& name) {
  for (const StepCause& cause : checked.causes)
    if (cause.name == name) return cause.time / sim::to_seconds(checked.result.step_time);
  return -1;
}

TEST(Checked, CausesAddUpToTheStep) {
  for (const sim::DeviceMesh& mesh :
       {sim::DeviceMesh{.data = 2}, sim::DeviceMesh{.data = 2, .pipeline = 2}, sim::DeviceMesh{.tensor = 2}}) {
    const Checked one = of(sim::testing::tiny_plan(mesh));
    const double sum = std::accumulate(one.causes.begin(), one.causes.end(), 0.0,
                                       [](double before, const StepCause& cause) { return before + cause.time.count(); });
    EXPECT_NEAR(sum, sim::to_seconds(one.result.step_time).count(), 1e-9);
    EXPECT_TRUE(one.result.timeline.spans.empty());
  }
}

TEST(Checked, WhatIsDoneAgainAndWaitedForIsNamed) {
  sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 2, .pipeline = 2});
  const Checked before = of(plan);
  plan.recompute = sim::Recompute::Full;
  const Checked after = of(plan);
  EXPECT_EQ(share_of(before, "computing again"), 0);
  EXPECT_GT(share_of(after, "computing again"), 0.05);
  EXPECT_GT(share_of(after, "pipeline filling and emptying"), 0.05);
  EXPECT_FALSE(after.communication.empty());
}

// The tensors of the peak are the peak, to the byte.
TEST(Checked, TensorsAddUpToThePeak) {
  const Checked one = of(sim::testing::tiny_plan({.data = 2, .pipeline = 2}));
  sim::Bytes sum{};
  for (const HeldTensors& held : one.tensors) sum += held.bytes;
  EXPECT_EQ(sum, one.result.peak_memory);
}

}  // namespace
}  // namespace cli
