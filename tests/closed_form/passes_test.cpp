// Passes of a pipeline: each fills and drains it, so that a step of k passes of m microbatches takes what k steps of m take.
#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

SimulationResult step_of(const ParallelPlan& plan) { return simulate(make_model_graph(plan), plan, Detail::Summary, Fold::Symmetric); }

// Three stages that take equally long, a microbatch after the other: k (m + p - 1)(t_f + t_b).
TEST(Passes, TakeAsLongAsSoManySteps) {
  for (const char* name : {"gpipe", "1f1b", "interleaved"}) {
    ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
    plan.schedule = name;
    plan.chunks = name == std::string("interleaved") ? 2 : 1;
    plan.cut = even_cut(plan.model.inner_layers(), plan.pipeline_shape());
    plan.workload.global_batch = 12 * plan.microbatch_size;
    ASSERT_TRUE(violations(plan).empty()) << name;
    ParallelPlan third = plan;
    third.workload.global_batch = 4 * plan.microbatch_size;
    plan.passes = 3;
    ASSERT_TRUE(violations(plan).empty()) << name;
    const std::vector<StageAction> whole = plan.order(StageIndex(1)), part = third.order(StageIndex(1));
    ASSERT_EQ(whole.size(), 3 * part.size());
    EXPECT_EQ(peak_in_flight(whole), peak_in_flight(part)) << name << ": passes hold nothing of each other";
    // Of three steps two end with sums and an update that one step of three passes has not.
    EXPECT_LT(step_of(plan).step_time, 3 * step_of(third).step_time) << name;
    ParallelPlan one = plan;
    one.passes = 1;
    EXPECT_GT(step_of(plan).step_time, step_of(one).step_time) << name;
    EXPECT_EQ(step_of(plan).devices[0].busy, step_of(one).devices[0].busy) << name;
  }
}

}  // namespace
}  // namespace sim
