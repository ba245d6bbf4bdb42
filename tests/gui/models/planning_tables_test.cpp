#include "gui/models/planning_tables.h"

#include <gmock/gmock.h>

#include "planner/outlook.h"
#include "sim/plan/field_words.h"
#include "sim/units/unit_text.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(PlanningTables, CandidatesInTheirOrder) {
  const SharedPlan simulated = test::exampleSimulation();
  const planner::RankedPlan ranked{simulated->plan, simulated->result, {{"slower", {{"percent", "8.3 %"}}}}, "8.3 % slower"};
  const Table table = candidatesTable({{ranked, true}, {ranked, false}});
  ASSERT_EQ(table.rows.size(), 2u);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), static_cast<std::size_t>(table.headers.size()));
  EXPECT_EQ(table.rows[0].back().text, "the best");
  EXPECT_EQ(table.rows[1].back().text, "8.3 % slower");
  EXPECT_TRUE(table.marked[0]);
  EXPECT_FALSE(table.marked[1]);
}

Candidate candidateOf(const sim::ParallelPlan& plan) {
  Candidate candidate;
  candidate.plan.plan = plan;
  return candidate;
}

// Any two plans that the table of fields tells apart are told apart by a column; what all have alike takes none.
TEST(PlanningTables, EverySettingThatDiffersIsAColumn) {
  sim::ParallelPlan plan = test::examplePlan(), other = plan;
  plan.zero_stage = other.zero_stage = 3;
  other.mesh.reshard = 2;
  other.layers_per_unit = 2;
  other.offload_optimizer = true;
  const Table table = candidatesTable({candidateOf(plan), candidateOf(other)});
  EXPECT_EQ(table.headers.mid(5, 6),
            QStringList({"Kept among", "Kept until", "Layers a unit", "Optimizer on the host", "Share on the host", "On drives"}));
  EXPECT_EQ(table.headers[11], "MFU");
  EXPECT_EQ(table.rows[1][5].text, "2");
  EXPECT_EQ(table.rows[0][8].text, "no");
  const QString common = commonSettings({candidateOf(plan), candidateOf(other)});
  EXPECT_EQ(common, "data 2, pipeline 2, tensor 1, ZeRO stage 3, recompute none");
}

TEST(PlanningTables, PlansWhoseOrderIsNotSureAreOneTie) {
  const SharedPlan simulated = test::exampleSimulation();
  planner::RankedPlan first{simulated->plan, simulated->result, {}, ""}, near = first, far = first;
  near.slower_chance = 0.6;
  far.slower_chance = 0.95;
  const Table table = candidatesTable({{first, true}, {near, false}, {far, false}});
  EXPECT_EQ(table.rows[0][0].text, "1");
  EXPECT_EQ(table.rows[1][0].text, "2 =");
  EXPECT_EQ(table.rows[2][0].text, "3");
  EXPECT_EQ(table.rows[1][4].text, "60.0 %");
  PlanAnswer answer;
  answer.result.ranked = {first, near, far};
  EXPECT_TRUE(tieText(answer).startsWith("Plans 1, 2 are one tie (")) << tieText(answer).toStdString();
  answer.objective = planner::Objective::Cost;
  EXPECT_TRUE(tieText(answer).endsWith("that plan 1 is cheaper holds with less than 80.0 %")) << tieText(answer).toStdString();
  answer.objective = planner::Objective::Energy;
  for (planner::RankedPlan& plan : answer.result.ranked) plan.measure = 12'500;
  EXPECT_EQ(tieText(answer), "Plans 1, 2 are one tie (12.5 kJ to 12.5 kJ): that plan 1 takes less energy holds with less than 80.0 %");
  EXPECT_EQ(candidatesTable({{answer.result.ranked[0], true}}, planner::Objective::Energy).headers[5], "Energy of a step");
  answer.result.ranked = {first, far};
  EXPECT_EQ(tieText(answer), "");
}

TEST(PlanningTables, WhatSaysNothingOfAPlanIsADash) {
  sim::ParallelPlan plan = test::examplePlan(), other = plan;
  plan.zero_stage = 3;
  const Table table = candidatesTable({candidateOf(plan), candidateOf(other)});
  const qsizetype unit = table.headers.indexOf("Layers a unit"), bucket = table.headers.indexOf("Bucket size");
  ASSERT_GT(unit, 0);
  EXPECT_EQ(table.rows[1][static_cast<std::size_t>(unit)].text, "–");
  EXPECT_EQ(table.rows[0][static_cast<std::size_t>(bucket)].text, "–");
  other.bucket_size = sim::kOneBucket;
  EXPECT_EQ(candidatesTable({candidateOf(plan), candidateOf(other)}).rows[1][static_cast<std::size_t>(bucket)].text, "one bucket");
}

TEST(PlanningTables, ASearchInAnEngineersWords) {
  PlanAnswer answer;
  answer.result.ranked.resize(1);
  answer.result.candidates = 133356;
  answer.result.simulated = 3;
  answer.result.pruned_bound = 100000;
  answer.result.pruned_memory = 33353;
  answer.result.gap = 0;
  EXPECT_EQ(searchText(answer), "3 of 133,356 plans simulated; 100,000 proven slower, 33,353 too large");
  EXPECT_EQ(provenText(answer), "No plan is faster: proven");
  answer.objective = planner::Objective::Cost;
  answer.result.gap = 0.01;
  EXPECT_EQ(searchText(answer), "3 of 133,356 plans simulated; 100,000 proven dearer, 33,353 too large");
  EXPECT_EQ(provenText(answer), "No plan is more than 1.0 % cheaper: proven");
}

TEST(PlanningTables, PlansOfFewerDevicesSayHowManyAndWhatTheyCost) {
  Candidate all = candidateOf(test::examplePlan()), half = all;
  half.plan.plan.cluster.devices = 2;
  for (Candidate* one : {&all, &half}) one->plan.result.tokens_per_second = 1e6;
  const Table table = candidatesTable({all, half}, planner::Objective::Cost);
  const qsizetype devices = table.headers.indexOf("Devices"), time = table.headers.indexOf("Device time, 1e9 tokens");
  ASSERT_GT(devices, 0);
  ASSERT_GT(time, 0);
  EXPECT_EQ(table.headers[4], "Truly dearer");
  EXPECT_EQ(table.rows[1][static_cast<std::size_t>(devices)].text, "2");
  EXPECT_EQ(table.rows[0][static_cast<std::size_t>(time)].text, "1.11 h");  // 4 devices for 1,000 s
  EXPECT_EQ(table.rows[1][static_cast<std::size_t>(time)].text, "0.56 h");
  EXPECT_EQ(candidatesTable({all, all}).headers.indexOf("Devices"), -1) << "where they are alike there is nothing to say";
}

// As the command line says it, of every plan.
TEST(PlanningTables, AWholeTrainingHasItsIntervalGoodputAndCheckpoints) {
  const SharedPlan simulated = test::exampleSimulation();
  PlanAnswer answer;
  answer.objective = planner::Objective::TimeToTrain;
  answer.result.ranked = {{simulated->plan, simulated->result, {}, ""}};
  answer.result.ranked.front().result.step_time = sim::SimTime(2'000'000'000'000);
  answer.whole = {.steps = 1'000'000,
                  .reliability = {.mean_time_between_failures = sim::Seconds(4e6), .restart = sim::Seconds(600), .save = sim::Seconds(30)}};
  const planner::Outlook all = planner::outlook_of(answer.whole, answer.result.ranked.front());
  const Table table = candidatesTable({{answer.result.ranked.front(), true}}, answer.objective, answer.whole);
  EXPECT_EQ(table.headers.mid(5, 5), QStringList({"Time to train", "80 % interval", "Goodput", "Failures", "Steps a checkpoint"}));
  EXPECT_EQ(table.rows[0].size(), static_cast<std::size_t>(table.headers.size()));
  const auto days = [](sim::Seconds time) { return QString::fromStdString(sim::duration_text(time)); };
  EXPECT_EQ(table.rows[0][6].text, days(all.low) + " to " + days(all.high));
  EXPECT_LT(all.low, all.time);
  EXPECT_LT(all.time, all.high);
  EXPECT_EQ(table.rows[0][7].sort.toDouble(), all.goodput);
  EXPECT_LT(all.goodput, 1);
  EXPECT_EQ(table.rows[0][8].sort.toDouble(), all.failures);
  EXPECT_EQ(table.rows[0][9].sort.toLongLong(), all.checkpoint_interval);
  EXPECT_GT(all.checkpoint_interval, 0);
  const QString said = trainingText(answer);
  EXPECT_TRUE(said.startsWith("Plan 1 trains 1,000,000 steps in " + days(all.time) + " (" + table.rows[0][6].text + "), goodput "))
      << said.toStdString();
  EXPECT_TRUE(said.endsWith(", of 30.0 s")) << said.toStdString();
  answer.whole.reliability = {};
  EXPECT_EQ(candidatesTable({{answer.result.ranked.front(), true}}, answer.objective, answer.whole).rows[0][9].text, "–");
  EXPECT_FALSE(trainingText(answer).contains("checkpoint"));
  answer.objective = planner::Objective::Step;
  EXPECT_EQ(trainingText(answer), "");
}

TEST(PlanningTables, ExclusionsNameTheFix) {
  planner::Exclusion out;
  out.family = "tensor=16";
  out.nearest_fix = "tensor=8";
  const Table table = exclusionsTable({out, {}});
  EXPECT_EQ(table.rows[0].back().text, "tensor=8");
  EXPECT_EQ(table.rows[1].back().text, "none close by");
}

}  // namespace
}  // namespace gui
