#include <gmock/gmock.h>

#include <fstream>

#include "gui/core/run_record.h"
#include "gui/core/simulated_plan.h"
#include "sim/units/input_error.h"
#include "tests/gui/example_plans.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

RunRecord runIn(const std::string& folder, std::int64_t started) { return {.folder = folder, .plan = "p", .started = started}; }

TEST(RunRecord, SaysWhatARunCameTo) {
  const sim::testing::TemporaryFolder folder;
  sim::ParallelPlan plan = test::examplePlan();
  plan.predictions = sim::Predictions{};
  plan.predictions->step_time = sim::Seconds(0.9);
  sim::save_plan(plan, folder.file("plan.json"));
  std::ofstream metrics(folder.file("metrics.ndjson"));
  for (int step = 1; step <= 9; ++step)
    metrics << "{\"step\": " << step << ", \"loss\": " << 10 - step
            << ", \"tokens_per_second\": 50, \"step_time_seconds\": " << (step < 3 ? 8 : 1) << "}\n";
  metrics.close();
  const RunRecord run = recordOf(folder.path());
  EXPECT_EQ(run.plan, summaryOf(plan));
  EXPECT_EQ(run.steps, 9);
  EXPECT_DOUBLE_EQ(run.loss, 1);
  EXPECT_DOUBLE_EQ(run.tokens_per_second, 50);
  EXPECT_GT(run.started, 1'600'000'000);
  ASSERT_TRUE(run.error);
  EXPECT_NEAR(*run.error, -0.1, 1e-9);
  EXPECT_THROW(recordOf("/no/such/run"), sim::InputError);
}

TEST(RunRecord, TheNewestIsFirstAndAFolderStandsOnce) {
  std::vector<RunRecord> history;
  for (const auto& [folder, started] : {std::pair("b", 2), {"a", 1}, {"c", 3}, {"a", 4}}) note(history, runIn(folder, started));
  EXPECT_THAT(history, testing::ElementsAre(runIn("a", 4), runIn("c", 3), runIn("b", 2)));
}

TEST(RunRecord, AHistoryComesBackAsItWas) {
  const sim::testing::TemporaryFolder folder;
  std::vector<RunRecord> history = {runIn("a", 2), runIn("b", 1)};
  history[0].error = 0.25;
  saveHistory(history, folder.file("runs.json"));
  EXPECT_EQ(loadHistory(folder.file("runs.json")), history);
  EXPECT_TRUE(loadHistory(folder.file("none.json")).empty());
}

}  // namespace
}  // namespace gui
