#include "planner/plan_candidate.h"

#include <gtest/gtest.h>

#include "planner/fixed_axes.h"
#include "sim/plan/parallel_plan.h"
#include "tests/planner/problems.h"

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

}  // namespace
}  // namespace planner
