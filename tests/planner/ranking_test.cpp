#include "planner/ranking.h"

#include <gmock/gmock.h>

#include "planner/evaluator.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// A step of 2 s in which devices compute for 1.5: 700 W and 145 W.
TEST(Ranking, EnergyIsLoadWhileItComputesAndIdleElse) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 8});
  request.objective = Objective::Energy;
  const Ranking ranking(request);
  const StepTime time{.step = sim::to_sim_time(sim::Seconds(2)), .computing = sim::to_sim_time(sim::Seconds(1.5))};
  const double joules = 8 * (1.5 * 700 + 0.5 * 145);
  EXPECT_NEAR(ranking.measure(ranking.of_step(time)), joules, 1e-6);
  EXPECT_EQ(ranking.text(ranking.of_step(time)), "8.98 kJ");
  EXPECT_NEAR(ranking.measure(ranking.rank(joules)), joules, 1e-6);
}

TEST(Ranking, CostIsTheTimeOfAllDevices) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 8});
  request.objective = Objective::Cost;
  const Ranking ranking(request);
  EXPECT_DOUBLE_EQ(ranking.measure(ranking.of_step({.step = sim::to_sim_time(sim::Seconds(2))})), 16);
}

TEST(Ranking, ATrainingCountsItsFailures) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 8});
  request.objective = Objective::TimeToTrain;
  request.whole.steps = 1000;
  request.whole.reliability = {.mean_time_between_failures = sim::Seconds(8000), .restart = sim::Seconds(100), .save = sim::Seconds(5)};
  const Ranking ranking(request);
  const StepTime time{.step = sim::to_sim_time(sim::Seconds(2))};
  const double expected = sim::ExpectedGoodput(request.whole.reliability, 8).step(sim::Seconds(2)).count() * 1000;
  EXPECT_NEAR(ranking.measure(ranking.of_step(time)), expected, 1e-6 * expected);
  EXPECT_GT(expected, 2200);
  EXPECT_GT(ranking.checkpoint_interval(time.step), 0);
}

TEST(Ranking, ATrainingThatNeverEndsIsNotPlanned) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 8});
  request.objective = Objective::TimeToTrain;
  request.whole.steps = 1000;
  request.whole.reliability = {.mean_time_between_failures = sim::Seconds(8e-30), .restart = sim::Seconds(600)};
  ASSERT_THAT(why_not_ranked(request), SizeIs(1));
  EXPECT_EQ(why_not_ranked(request)[0].where, "--mtbf");
  EXPECT_THAT(why_not_ranked(request)[0].problem, HasSubstr("no training ends"));
  request.whole.reliability.mean_time_between_failures = sim::Seconds(8 * 600);
  EXPECT_THAT(why_not_ranked(request), SizeIs(0));
}

TEST(Ranking, WhatNeverEndsStillHasARank) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 8});
  request.objective = Objective::TimeToTrain;
  request.whole.steps = 1000;
  request.whole.reliability = {.mean_time_between_failures = sim::Seconds(8), .restart = sim::Seconds(1e6)};
  const Ranking ranking(request);
  EXPECT_GT(ranking.of_step({.step = sim::to_sim_time(sim::Seconds(2))}).count(), 0);
}

// Bounds that count computing, too, are none above the simulation.
TEST(Ranking, BoundsAreNoneAboveASimulation) {
  for (SearchRequest request : small_requests()) {
    request.objective = Objective::Energy;
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    Evaluator evaluator(request, model);
    const Ranking ranking(request);
    double tightness = 0;
    std::int64_t judged = 0;
    for (const PlanCandidate& candidate : enumerate(request).candidates.all()) {
      const sim::ParallelPlan plan = evaluator.plan(candidate);
      if (!sim::violations(plan).empty()) continue;
      SCOPED_TRACE(to_text(candidate));
      const StepTime truth = step_time_of(simulate(model, plan)), first = evaluator.first_time(candidate);
      const Judgement judgement = evaluator.judge(candidate);
      EXPECT_LE(first.computing, truth.computing);
      EXPECT_LE(first.step, truth.step);
      if (judgement.verdict != Verdict::Open) continue;
      const StepTime bound = evaluator.judged_time(judgement, candidate);
      EXPECT_LE(bound.computing, truth.computing);
      EXPECT_GE(bound.computing, first.computing);
      tightness += sim::to_seconds(ranking.of_step(bound)) / sim::to_seconds(ranking.of_step(truth));
      ++judged;
    }
    ASSERT_GT(judged, 0);
    EXPECT_GT(tightness / static_cast<double>(judged), 0.8);
  }
}

TEST(Ranking, NamesWhatIsMissing) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 8});
  request.objective = Objective::Energy;
  EXPECT_THAT(why_not_ranked(request), SizeIs(0));
  request.cluster.hardware.power.reset();
  ASSERT_THAT(why_not_ranked(request), SizeIs(1));
  EXPECT_THAT(why_not_ranked(request)[0].remedy, HasSubstr("\"power\""));
  request.objective = Objective::TimeToTrain;
  EXPECT_THAT(why_not_ranked(request)[0].remedy, HasSubstr("--tokens"));
  request.whole.steps = 10;
  request.whole.most_spares = 1;
  EXPECT_THAT(why_not_ranked(request), SizeIs(2));  // of one node none can be held back, and nothing is repaired
}

}  // namespace
}  // namespace planner
