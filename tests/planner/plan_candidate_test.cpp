#include "planner/plan_candidate.h"

#include <gtest/gtest.h>

#include "planner/fixed_axes.h"
#include "planner/search_space.h"
#include "sim/engine/simulate.h"
#include "sim/plan/field_uses.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

const PlanCandidate kCandidate{.mesh = {.data = 2, .pipeline = 2, .tensor = 2},
                               .microbatch = 2,
                               .zero_stage = 3,
                               .accumulation = sim::Accumulation::ReduceEach,
                               .reshard = false,
                               .layers_per_unit = 2,
                               .sequence_parallel = true,
                               .recompute = sim::Recompute::Full};

// What no plan of small problems says of these.
const PlanCandidate kOther{.context_algorithm = sim::ContextAlgorithm::AllGather,
                           .schedule = 1,
                           .accumulation = sim::Accumulation::ReduceEach,
                           .reshard = false,
                           .layers_per_unit = 4,
                           .reshard_ranks = 2,
                           .sequence_parallel = true,
                           .token_dispatcher = sim::TokenDispatcher::Hierarchical,
                           .expert_overlap = true,
                           .offload_parameters = true,
                           .offload_activations = true};

TEST(PlanCandidate, BecomesAPlanWithAnEvenCut) {
  const SearchRequest request = small_request({.devices = 8});
  const sim::ParallelPlan plan = make_plan(request, kCandidate);
  EXPECT_EQ(plan.mesh, kCandidate.mesh);
  EXPECT_EQ(plan.microbatch_size, 2);
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_EQ(plan.accumulation, sim::Accumulation::ReduceEach);
  EXPECT_FALSE(plan.reshard_after_forward);
  EXPECT_EQ(plan.layers_per_unit, 2);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_TRUE(sim::violations(plan).empty());
}

TEST(PlanCandidate, ItsAxesAreWhatFixTakes) {
  Fixed fixed;
  for (const Argument& axis : axes_of(kCandidate)) fixed[axis.name] = axis.value;
  const FixedAxes read = read_fixed_axes(fixed);
  EXPECT_EQ(read.at, kCandidate);
  EXPECT_EQ(read.given.size(), all_axes().size());
  EXPECT_EQ(to_text(kCandidate).substr(0, 25), "data=2 tensor=2 pipeline=");
}

TEST(PlanCandidate, SlicesAreToldWhereThereAreSeveral) {
  PlanCandidate candidate = kCandidate;
  EXPECT_EQ(to_text(candidate).find("slices"), std::string::npos);
  candidate.slices = 4;
  EXPECT_NE(to_text(candidate).find(" slices=4 "), std::string::npos) << to_text(candidate);
}

// Read from a plan it is itself; what means nothing there is not asked, whatever the plan says.
TEST(PlanCandidate, IsReadFromItsPlan) {
  for (const SearchRequest& request : small_requests())
    for (const PlanCandidate& one : enumerate(request).candidates) {
      sim::ParallelPlan plan = make_plan(request, one);
      ASSERT_EQ(to_text(candidate_of(plan)), to_text(one));
      EXPECT_EQ(sim::has_use(sim::plan_field("reshard"), plan), one.zero_stage == 3);
      if (one.zero_stage < 3) plan.reshard_after_forward = false, plan.layers_per_unit = 4, plan.mesh.reshard = 2;
      if (one.mesh.context == 1) plan.context_algorithm = sim::ContextAlgorithm::AllGather;
      if (one.mesh.tensor == 1) plan.sequence_parallel = true;
      if (one.mesh.expert == 1) plan.token_dispatcher = sim::TokenDispatcher::Hierarchical;
      ASSERT_EQ(candidate_of(plan), one) << to_text(one);
    }
}

// Of a few plans of each problem: another value of an axis without a use there breaks a rule, or changes neither time nor memory.
TEST(PlanCandidate, WhatHasNoUseChangesNothing) {
  std::int64_t turned = 0, at = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    if (++at % 97 != 0) return;
    const sim::SimulationResult usual = simulate(model, plan);
    for (const PlanCandidate& other : {kCandidate, kOther})
      for (const Axis& axis : all_axes()) {
        if (sim::has_use(*axis.field, plan)) continue;
        sim::ParallelPlan changed = plan;
        axis.put(other, changed);
        if (sim::plan_hash(changed) == sim::plan_hash(plan) || !sim::violations(changed).empty()) continue;
        const sim::SimulationResult result = simulate(model, changed);
        EXPECT_EQ(result.step_time, usual.step_time) << axis.field->name;
        EXPECT_EQ(result.peak_memory, usual.peak_memory) << axis.field->name;
        ++turned;
      }
  });
  EXPECT_GT(turned, 20);
}

// Axes of shapes are those that candidates of one shape have in common; the others say the same of every shape.
TEST(PlanCandidate, AnAxisIsOfShapesOrAWord) {
  for (const Axis& axis : all_axes()) {
    const bool asks = [&] {
      for (const SearchRequest& request : small_requests())
        for (const PlanCandidate& one : enumerate(request).candidates) {
          const PlanCandidate shape{.mesh = one.mesh,
                                    .context_algorithm = one.context_algorithm,
                                    .schedule = one.schedule,
                                    .chunks = one.chunks,
                                    .microbatch = one.microbatch,
                                    .expert_overlap = one.expert_overlap};
          if (axis.number(shape) != axis.number(one)) return false;
        }
      return true;
    }();
    EXPECT_TRUE(asks || !axis.of_shape) << axis.field->name;
    PlanCandidate word;
    word.mesh = {.data = 3, .pipeline = 5, .tensor = 7, .replicas = 3, .context = 4, .context_inner = 2, .expert = 3, .expert_tensor = 1};
    word.context_algorithm = sim::ContextAlgorithm::AllToAll, word.schedule = 2, word.chunks = 3, word.microbatch = 4;
    word.expert_overlap = true;
    EXPECT_EQ(axis.number(word) != axis.number(PlanCandidate{}), axis.of_shape) << axis.field->name;
  }
}

}  // namespace
}  // namespace planner
