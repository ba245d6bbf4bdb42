#include <gmock/gmock.h>

#include <fstream>

#include "gui/core/last_answer.h"
#include "gui/core/plan_question.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

TEST(LastAnswer, ComesBackAsItWas) {
  const PlanQuestion question{
      .model = "profiles/models/tiny-gpt2.json", .cluster = "a100-80gb-sxm", .devices = 4, .global_batch = 16, .sequence = 64};
  const PlanAnswer answer{planner::search(searchRequest(question)), sim::Bytes(7), planner::Objective::Cost};
  ASSERT_FALSE(answer.result.ranked.empty());
  const sim::testing::TemporaryFolder folder;
  saveAnswer(answer, folder.file("answer.json"));
  const PlanAnswer back = loadAnswer(folder.file("answer.json"));
  EXPECT_EQ(back.limit, sim::Bytes(7));
  EXPECT_EQ(back.objective, planner::Objective::Cost);
  EXPECT_EQ(back.result.proof, answer.result.proof);
  EXPECT_EQ(back.result.candidates, answer.result.candidates);
  EXPECT_EQ(back.result.simulated, answer.result.simulated);
  EXPECT_EQ(back.result.pruned_risk, answer.result.pruned_risk);
  EXPECT_EQ(back.result.open, answer.result.open);
  EXPECT_EQ(back.result.risky.size(), answer.result.risky.size());
  ASSERT_EQ(back.result.gap.has_value(), answer.result.gap.has_value());
  EXPECT_DOUBLE_EQ(back.result.gap.value_or(0), answer.result.gap.value_or(0));
  ASSERT_EQ(back.result.excluded.size(), answer.result.excluded.size());
  ASSERT_EQ(back.result.pareto.size(), answer.result.pareto.size());
  ASSERT_EQ(back.result.ranked.size(), answer.result.ranked.size());
  for (std::size_t at = 0; at < back.result.ranked.size(); ++at) {
    const planner::RankedPlan &one = back.result.ranked[at], &other = answer.result.ranked[at];
    EXPECT_EQ(sim::plan_hash(one.plan), sim::plan_hash(other.plan));
    EXPECT_EQ(one.result.step_time, other.result.step_time);
    EXPECT_EQ(one.result.peak_memory, other.result.peak_memory);
    EXPECT_EQ(one.result.mfu, other.result.mfu);
    EXPECT_EQ(one.reasons, other.reasons);
    EXPECT_DOUBLE_EQ(one.out_of_memory_chance, other.out_of_memory_chance);
    EXPECT_DOUBLE_EQ(one.slower_chance, other.slower_chance);
  }
}

TEST(LastAnswer, AWholeTrainingComesBack) {
  const sim::testing::TemporaryFolder folder;
  PlanAnswer answer;
  answer.objective = planner::Objective::TimeToTrain;
  answer.whole = {.steps = 12,
                  .reliability = {.mean_time_between_failures = sim::Seconds(3e8), .restart = sim::Seconds(600), .save = sim::Seconds(30)}};
  saveAnswer(answer, folder.file("answer.json"));
  const planner::WholeTraining back = loadAnswer(folder.file("answer.json")).whole;
  EXPECT_EQ(back.steps, 12);
  EXPECT_EQ(back.reliability.mean_time_between_failures, sim::Seconds(3e8));
  EXPECT_EQ(back.reliability.restart, sim::Seconds(600));
  EXPECT_EQ(back.reliability.save, sim::Seconds(30));
}

TEST(LastAnswer, WhatIsNoneIsRefused) {
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("answer.json"), R"({"format": "meshwright.answer/2", "counts": [1]})");
  EXPECT_THROW(loadAnswer(folder.file("answer.json")), sim::InputError);
}

// Files of before there were other objectives call a step's time so.
TEST(LastAnswer, AnObjectiveOfOldIsRead) {
  const sim::testing::TemporaryFolder folder;
  saveAnswer({}, folder.file("answer.json"));
  std::string text = sim::load_text_file(folder.file("answer.json"));
  const std::size_t at = text.find("\"step\"");
  ASSERT_NE(at, std::string::npos);
  std::ofstream(folder.file("old.json")) << text.replace(at, 6, "\"time\"");
  EXPECT_EQ(loadAnswer(folder.file("old.json")).objective, planner::Objective::Step);
  std::ofstream(folder.file("wrong.json")) << text.replace(text.find("\"time\""), 6, "\"luck\"");
  EXPECT_THROW(loadAnswer(folder.file("wrong.json")), sim::InputError);
}

}  // namespace
}  // namespace gui
