#include <gmock/gmock.h>

#include <fstream>

#include "gui/core/knobs.h"
#include "gui/core/last_work.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

std::string file() { return testing::TempDir() + "last_work.json"; }

LastWork someWork() {
  LastWork work{.question = {.model = "m.json",
                             .cluster = "c",
                             .devices = 4,
                             .software = "s",
                             .global_batch = 8,
                             .sequence = 64,
                             .precision = "bf16",
                             .memory_limit = "70 GiB",
                             .robust = true,
                             .objective = planner::Objective::Cost,
                             .fewer = true,
                             .program = "deepspeed"},
                .plans = {test::examplePlan(), test::examplePlan(), test::examplePlan()},
                .shown = 1,
                .view = {.group = GroupBy::Stage, .pinned = {2}, .marks = {{sim::SimTime(1000), "here"}}, .search = "forward"},
                .run = {.data = "t.bin", .folder = "runs/a", .steps = 7},
                .every_rank = true,
                .dense = true};
  work.plans[1].recompute = sim::Recompute::Full;
  work.plans[2].microbatch_size = 2;
  return work;
}

TEST(LastWork, ComesBackAsItWas) {
  const LastWork work = someWork();
  saveWork(work, file());
  const LastWork back = loadWork(file());
  EXPECT_EQ(back.question, work.question);
  EXPECT_EQ(back.view, work.view);
  EXPECT_EQ(back.run, work.run);
  EXPECT_TRUE(back.every_rank);
  EXPECT_TRUE(back.dense);
  EXPECT_EQ(back.shown, 1u);
  ASSERT_EQ(back.plans.size(), 3u);
  for (std::size_t at = 0; at < 3; ++at) EXPECT_EQ(sim::plan_hash(back.plans[at]), sim::plan_hash(work.plans[at]));
}

TEST(LastWork, APlanThatBreaksARuleIsLeftOut) {
  LastWork work = someWork();
  work.plans[1].mesh.tensor = 3;
  saveWork(work, file());
  const LastWork back = loadWork(file());
  ASSERT_EQ(back.plans.size(), 2u);
  EXPECT_EQ(back.shown, 0u);
  EXPECT_EQ(back.plans[1].microbatch_size, 2);
}

TEST(LastWork, OfManyPlansThoseAroundTheShownOneStay) {
  LastWork work = someWork();
  work.plans.assign(200, test::examplePlan());
  work.shown = 150;
  work.plans[150].recompute = sim::Recompute::Full;
  saveWork(work, file());
  const LastWork back = loadWork(file());
  EXPECT_LE(back.plans.size(), 40u);
  EXPECT_EQ(back.plans[back.shown].recompute, sim::Recompute::Full);
}

TEST(LastWork, WhatIsBrokenIsRefused) {
  saveWork(someWork(), file());
  std::string text;
  std::getline(std::ifstream(file()), text, '\0');
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, text.size() / 3, text.size() - 3}) {
    std::ofstream(file()) << text.substr(0, length);
    EXPECT_THROW(loadWork(file()), sim::InputError) << length;
  }
  std::string other = text;
  other.replace(other.find("\"shown\": 1"), 10, "\"shown\": 9");
  std::ofstream(file()) << other;
  EXPECT_THROW(loadWork(file()), sim::InputError);
}

}  // namespace
}  // namespace gui
