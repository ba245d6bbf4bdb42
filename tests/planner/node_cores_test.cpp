#include "planner/node_cores.h"

#include <gtest/gtest.h>

#include "planner/evaluator.h"
#include "tests/planner/every_plan.h"
#include "tests/sim/plan/plans.h"

namespace planner {
namespace {

using sim::SimTime;

// Four stages of one rank on nodes of `cores` cores and four ranks: 100 each, in turn from 0, 10, 20, 30.
SimTime of_stages(std::int32_t ranks_of_node, double core_share, bool splits = false) {
  sim::ParallelPlan plan = sim::testing::tiny_plan({.pipeline = 4});
  plan.cluster.hardware.devices_per_node = ranks_of_node;
  plan.delay_wgrad = splits;
  std::vector<StageSketch> stages;
  for (std::int64_t stage = 0; stage < 4; ++stage)
    stages.push_back({.arrive = SimTime(stage * 10), .drain = SimTime(stage * 20), .computing = SimTime(100)});
  return cores_time(plan, core_share, stages);
}

TEST(NodeCores, AreSharedByTheStagesOfANode) {
  EXPECT_EQ(of_stages(4, 0), SimTime{}) << "no cores are shared";
  EXPECT_EQ(of_stages(4, 0.25), SimTime{}) << "each rank has its own";
  EXPECT_EQ(of_stages(4, 1), SimTime(400)) << "one behind the other";
  EXPECT_EQ(of_stages(4, 0.5), SimTime(200 + 5 + 10)) << "two at once, but for the first 10 and the last 20";
  EXPECT_EQ(of_stages(4, 0.5, true), SimTime(200 + 5)) << "weights may be left for the end";
  EXPECT_EQ(of_stages(2, 1), SimTime(200 + 20 + 40)) << "of two nodes the second, which waits for the first";
  EXPECT_EQ(of_stages(1, 1), SimTime{}) << "a node each";
}

// CPUs whose ranks are more than the cores: with their stages on one node the bound comes near the simulation, and stays below it.
TEST(NodeCores, TellNearlyAllOfTheStep) {
  SearchRequest request = small_requests().back();
  ASSERT_EQ(request.cluster.hardware.cores_per_node, 2);
  request.fixed = {{"pipeline", "4"}};
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  Evaluator evaluator(request, model);
  double told = 0, plans = 0;
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    const Judgement judged = evaluator.judge(candidate);
    if (judged.verdict != Verdict::Open) continue;
    const sim::SimTime step = simulate(model, evaluator.plan(candidate)).step_time;
    EXPECT_LE(judged.time, step) << to_text(candidate);
    told += sim::to_seconds(judged.time) / sim::to_seconds(step), ++plans;
  }
  ASSERT_GT(plans, 10);
  EXPECT_GT(told / plans, 0.85);
}

}  // namespace
}  // namespace planner
