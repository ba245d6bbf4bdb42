#include "gui/core/knobs.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(Knobs, ReadBackFromThePlan) {
  const sim::ParallelPlan plan = test::examplePlan();
  EXPECT_EQ(knobsOf(turned(plan, knobsOf(plan))), knobsOf(plan));
  EXPECT_EQ(sim::plan_hash(turned(plan, knobsOf(plan))), sim::plan_hash(plan));
}

TEST(Knobs, TheOptimizerGoesToTheHost) {
  Knobs knobs = knobsOf(test::examplePlan());
  knobs.offload_optimizer = knobs.offload_activations = true;
  EXPECT_TRUE(turned(test::examplePlan(), knobs).offload_optimizer);
  EXPECT_TRUE(turned(test::examplePlan(), knobs).offload_activations);
}

TEST(Knobs, DataDegreeFollowsAndTheCutIsMadeAnew) {
  Knobs knobs = knobsOf(test::examplePlan());
  knobs.pipeline = 1;
  knobs.layers_per_unit = knobs.reshard_ranks = 2;
  knobs.accumulation = sim::Accumulation::ReduceEach;
  const sim::ParallelPlan plan = turned(test::examplePlan(), knobs);
  EXPECT_EQ(plan.mesh.data, 4);
  EXPECT_EQ(plan.layers_per_unit, 2);
  EXPECT_EQ(plan.accumulation, sim::Accumulation::ReduceEach);
  EXPECT_EQ(plan.mesh.reshard, 2);
  EXPECT_EQ(plan.cut.first.size(), 1u);
  EXPECT_THAT(sim::violations(plan), testing::IsEmpty());
}

TEST(Knobs, ReplicasStayWhereTheyCutTheDataRanks) {
  sim::ParallelPlan plan = test::examplePlan();
  Knobs knobs = knobsOf(plan);
  knobs.pipeline = 1;  // four data ranks
  plan.mesh.replicas = 2;
  EXPECT_EQ(turned(plan, knobs).mesh.replicas, 2);
  plan.mesh.replicas = 4;
  EXPECT_EQ(turned(plan, knobs).mesh.replicas, 1);
}

TEST(Knobs, ContextRanksStayAndExpertsWhereTheyDivide) {
  sim::ParallelPlan plan = test::examplePlan();
  plan.mesh = {.data = 1, .pipeline = 2, .tensor = 1, .context = 2, .expert = 2};
  Knobs knobs = knobsOf(plan);
  EXPECT_EQ(turned(plan, knobs).mesh, plan.mesh);
  knobs.pipeline = 1;
  EXPECT_EQ(turned(plan, knobs).mesh, (sim::DeviceMesh{.data = 2, .pipeline = 1, .tensor = 1, .context = 2, .expert = 2}));
  knobs.pipeline = 2;
  plan.mesh.expert = 3;
  EXPECT_EQ(turned(plan, knobs).mesh.expert, 1);
}

TEST(Knobs, WhatCannotBeIsLeftToTheRules) {
  Knobs knobs = knobsOf(test::examplePlan());
  knobs.tensor = 3;
  EXPECT_THAT(sim::violations(turned(test::examplePlan(), knobs)), testing::Not(testing::IsEmpty()));
  knobs.pipeline = 1000;
  EXPECT_THAT(sim::violations(turned(test::examplePlan(), knobs)), testing::Not(testing::IsEmpty()));
}

TEST(Knobs, ABoundaryMovesBetweenItsNeighbors) {
  const sim::ParallelPlan plan = test::examplePlan();  // two stages
  const std::int32_t layers = static_cast<std::int32_t>(plan.model.layers);
  EXPECT_EQ(movedBoundary(plan, {1, sim::LayerIndex(1)}).cut.first[1], sim::LayerIndex(1));
  EXPECT_EQ(movedBoundary(plan, {1, sim::LayerIndex(-5)}).cut.first[1], sim::LayerIndex(1));
  EXPECT_EQ(movedBoundary(plan, {1, sim::LayerIndex(99)}).cut.first[1], sim::LayerIndex(layers));
  EXPECT_EQ(movedBoundary(plan, {0, sim::LayerIndex(1)}).cut.first[0], sim::LayerIndex(0));
  EXPECT_TRUE(sim::violations(movedBoundary(plan, {1, sim::LayerIndex(1)})).empty());
}

}  // namespace
}  // namespace gui
