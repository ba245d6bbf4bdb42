#include "sim/engine/searched_plan.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>

#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

// Recomputed blocks: backwards of inputs are longer than forwards, and those longer than weights' gradients.
ParallelPlan unequal_plan(const char* schedule, std::int64_t batch) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 4, .tensor = 1});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, true);
  plan.model.layers = 8;
  plan.cut = even_cut(8, {.stages = 4, .microbatches = 1});
  plan.workload.global_batch = batch;
  plan.schedule = schedule;
  plan.recompute = Recompute::Full;
  plan.post_validation = PostValidation::Copies;
  return plan;
}

SimulationResult played(const ParallelPlan& plan) { return simulate(make_model_graph(plan), plan, Detail::Timeline); }

TEST(SearchedPlan, IsFasterThanRowsForEqualPasses) {
  std::set<std::pair<std::string, std::int64_t>> found;
  for (const char* schedule : {"zb-1p", "zb-2p"})
    for (const std::int64_t batch : {4, 8, 24}) {
      const ParallelPlan plan = unequal_plan(schedule, batch);
      ASSERT_TRUE(violations(plan).empty()) << located(violations(plan).front());
      ASSERT_TRUE(why_not_searched(plan).empty());
      const SimulationResult before = played(plan);
      const auto searched = with_searched_order(make_model_graph(plan), plan, before);
      if (!searched) continue;
      EXPECT_TRUE(violations(searched->plan).empty()) << located(violations(searched->plan).front());
      const SimulationResult after = played(searched->plan);
      EXPECT_EQ(after.step_time, searched->result.step_time);
      EXPECT_EQ(after.peak_memory, searched->result.peak_memory);
      found.insert(std::pair(plan.schedule, batch));
      EXPECT_LE(after.peak_memory, before.peak_memory) << schedule << " of " << batch;
      EXPECT_LT(after.step_time, before.step_time) << schedule << " of " << batch;
    }
  EXPECT_TRUE(found.contains({"zb-2p", 4}));
  EXPECT_TRUE(found.contains({"zb-2p", 8}));
}

TEST(SearchedPlan, PassesAreThoseOfTheTimeline) {
  const ParallelPlan plan = unequal_plan("zb-2p", 12);
  const OrderProblem problem = order_problem(make_model_graph(plan), plan, played(plan).peak_memory);
  for (const StageMemory& stage : problem.memory) EXPECT_GE(stage.limit, 700);
  EXPECT_EQ(problem.end, StepEnd::Cross);
  ASSERT_EQ(problem.times.stages.size(), 4u);
  EXPECT_GT(problem.times.transfer, SimTime(0));
  for (const PassTimes& stage : problem.times.stages) {
    EXPECT_GT(stage.weight, SimTime(0));
    EXPECT_GT(stage.backward, stage.forward) << "blocks are computed again";
  }
}

TEST(SearchedPlan, TheCheckersAgree) {
  const ParallelPlan given = unequal_plan("zb-2p", 8);
  const ModelGraph model = make_model_graph(given);
  const auto searched = with_searched_order(model, given, played(given));
  ASSERT_TRUE(searched);
  const ParallelPlan& plan = searched->plan;
  EXPECT_EQ(plan.schedule, kOrderFromCsv);
  const TaskGraph graph = lower(model, plan);
  EXPECT_TRUE(check_graph(model, plan, graph).empty());
}

TEST(SearchedPlan, OneStageHasNoOrderToSearch) {
  const ParallelPlan plan = testing::tiny_plan({.data = 2});
  EXPECT_FALSE(why_not_searched(plan).empty());
}

}  // namespace
}  // namespace sim
