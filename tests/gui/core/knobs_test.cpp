#include "gui/core/knobs.h"

#include <gmock/gmock.h>

#include "sim/plan/field_uses.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

using sim::ParallelPlan;

const Knob& knobOf(std::string_view name) {
  for (const Knob& knob : allKnobs())
    if (knob.field->name == name) return knob;
  ADD_FAILURE() << name;
  return allKnobs().front();
}

std::vector<std::string_view> shownOf(const ParallelPlan& plan) {
  std::vector<std::string_view> names;
  for (const Knob& knob : allKnobs())
    if (sim::has_use(*knob.field, plan)) names.push_back(knob.field->name);
  return names;
}

// Whatever field a plan gains, it can be turned or follows: "Every setting that tells two plans apart is a knob".
TEST(Knobs, EveryFieldOfALayoutIsOneOrFollows) {
  std::vector<std::string_view> layout, knobs = {"data", "microbatches", "order", "cut"};
  for (const sim::PlanField& field : sim::plan_fields())
    if (field.role == sim::FieldRole::Layout) layout.push_back(field.name);
  for (const Knob& knob : allKnobs()) knobs.push_back(knob.field->name);
  EXPECT_THAT(knobs, testing::UnorderedElementsAreArray(layout));
}

TEST(Knobs, WhatAPlanHasIsTurnedToWithoutEffect) {
  const ParallelPlan plan = test::examplePlan();
  for (const Knob& knob : allKnobs())
    EXPECT_EQ(sim::plan_hash(turned(plan, {knob.field->name, knob.field->access.get(plan)})), sim::plan_hash(plan)) << knob.field->name;
}

TEST(Knobs, ThoseThatSayNothingOfThePlanAreKnown) {
  ParallelPlan plan = test::examplePlan();
  using testing::Contains, testing::Not;
  EXPECT_THAT(shownOf(plan), Not(Contains("layers_per_unit")));
  EXPECT_THAT(shownOf(plan), Not(Contains("context_algorithm")));
  EXPECT_THAT(shownOf(plan), Contains("schedule"));
  EXPECT_THAT(shownOf(plan), Not(Contains("expert"))) << "a model without experts";
  EXPECT_THAT(shownOf(plan), Not(Contains("expert_tensor")));
  plan.zero_stage = 3;
  plan.mesh.context = 2;
  EXPECT_THAT(shownOf(plan), Contains("layers_per_unit"));
  EXPECT_THAT(shownOf(plan), Contains("context_algorithm"));
  EXPECT_THAT(shownOf(plan), Not(Contains("bucket_size")));
}

TEST(Knobs, AScheduleIsJudgedByTheMicrobatchesOfOnePass) {
  ParallelPlan plan = test::examplePlan();
  const sim::Schedule& schedule = *sim::find_schedule("dualpipev");  // two microbatches a stage at least
  ASSERT_TRUE(canHave(schedule, plan, 2)) << plan.num_microbatches();
  plan.passes = static_cast<std::int32_t>(plan.num_microbatches() / plan.mesh.pipeline);
  EXPECT_FALSE(canHave(schedule, plan, 2));
}

TEST(Knobs, DataDegreeFollowsAndTheCutIsMadeAnew) {
  const ParallelPlan plan = turned(test::examplePlan(), {"pipeline", std::int64_t{1}});
  EXPECT_EQ(plan.mesh.data, 4);
  EXPECT_EQ(plan.cut.first.size(), 1u);
  EXPECT_THAT(sim::violations(plan), testing::IsEmpty());
}

TEST(Knobs, ReplicasAndExpertsStayWhereTheyDivide) {
  ParallelPlan plan = test::examplePlan();
  plan.mesh.replicas = 2;
  EXPECT_EQ(turned(plan, {"pipeline", std::int64_t{1}}).mesh.replicas, 2);
  plan.mesh.replicas = 4;
  EXPECT_EQ(turned(plan, {"pipeline", std::int64_t{1}}).mesh.replicas, 1);
  plan.mesh = {.data = 1, .pipeline = 2, .tensor = 1, .context = 2, .expert = 2};
  EXPECT_EQ(turned(plan, {"pipeline", std::int64_t{1}}).mesh,
            (sim::DeviceMesh{.data = 2, .pipeline = 1, .tensor = 1, .context = 2, .expert = 2}));
}

// Neither can be turned before the other: they go together.
TEST(Knobs, AScheduleTakesItsChunksAndChunksTheirSchedule) {
  ParallelPlan plan = test::examplePlan();
  const ParallelPlan interleaved = turned(plan, {"schedule", std::string("interleaved")});
  EXPECT_EQ(interleaved.chunks, 2);
  EXPECT_EQ(interleaved.cut.first.size(), 4u);
  EXPECT_EQ(turned(interleaved, {"schedule", std::string("1f1b")}).chunks, 1);
  EXPECT_NE(turned(plan, {"chunks", std::int64_t{2}}).schedule, "1f1b");
  EXPECT_EQ(turned(interleaved, {"chunks", std::int64_t{1}}).schedule, "1f1b");
  EXPECT_EQ(turned(interleaved, {"pipeline", std::int64_t{1}}).schedule, "1f1b");
}

TEST(Knobs, AnotherRecomputationHasNoModulesOfTheOneBefore) {
  const sim::ParallelPlan plan =
      turned(turned(test::examplePlan(), {"recompute", std::string("selective")}), {"recompute_scope", std::string("modules mlp")});
  ASSERT_TRUE(sim::violations(plan).empty());
  for (const char* policy : {"full", "none"})
    EXPECT_TRUE(sim::violations(turned(plan, {"recompute", std::string(policy)})).empty()) << policy;
  EXPECT_EQ(turned(plan, {"recompute", std::string("selective")}).recompute_scope, plan.recompute_scope);
}

TEST(Knobs, WhatCannotBeIsLeftToTheRules) {
  for (const Turn& turn : {Turn{"tensor", std::int64_t{3}}, Turn{"pipeline", std::int64_t{1000}}})
    EXPECT_THAT(sim::violations(turned(test::examplePlan(), turn)), testing::Not(testing::IsEmpty()));
}

TEST(Knobs, StepsLeadToValuesThatCanBe) {
  ParallelPlan plan = test::examplePlan();  // 4 devices, 8 samples
  plan = turned(plan, {"pipeline", std::int64_t{1}});
  EXPECT_EQ(stepped(plan, knobOf("tensor"), 1), 2);
  EXPECT_EQ(stepped(plan, knobOf("tensor"), 2), 4);
  EXPECT_EQ(stepped(turned(plan, {"tensor", std::int64_t{2}}), knobOf("tensor"), 1), 4);
  EXPECT_EQ(stepped(plan, knobOf("microbatch"), 2), 2 + 0);  // 1, 2: two samples a rank
  EXPECT_EQ(stepped(plan, knobOf("zero"), -1), 0);
  EXPECT_EQ(stepped(plan, knobOf("vocabulary_multiple"), 1), 256);
}

TEST(Knobs, ABoundaryMovesBetweenItsNeighbors) {
  const ParallelPlan plan = test::examplePlan();  // two stages
  const std::int32_t layers = static_cast<std::int32_t>(plan.model.layers);
  EXPECT_EQ(movedBoundary(plan, {1, sim::LayerIndex(1)}).cut.first[1], sim::LayerIndex(1));
  EXPECT_EQ(movedBoundary(plan, {1, sim::LayerIndex(-5)}).cut.first[1], sim::LayerIndex(1));
  EXPECT_EQ(movedBoundary(plan, {1, sim::LayerIndex(99)}).cut.first[1], sim::LayerIndex(layers));
  EXPECT_EQ(movedBoundary(plan, {0, sim::LayerIndex(1)}).cut.first[0], sim::LayerIndex(0));
  EXPECT_TRUE(sim::violations(movedBoundary(plan, {1, sim::LayerIndex(1)})).empty());
}

}  // namespace
}  // namespace gui
