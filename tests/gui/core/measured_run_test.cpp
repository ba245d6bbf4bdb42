#include "gui/core/measured_run.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"
#include "tests/cli/simulated_run.h"

namespace gui {
namespace {

TEST(MeasuredRun, OfASimulationHasNoError) {
  const SharedRun run = loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_equal"));
  EXPECT_NEAR(run->comparison.step.error(), 0, 1e-3);
  EXPECT_TRUE(run->comparison.ledger_equal);
  EXPECT_EQ(run->measured.spans.size(), run->simulated->result.timeline.spans.size());
  EXPECT_EQ(run->measured.devices.size(), 2u);
}

TEST(MeasuredRun, FindsAPlantedSlowdown) {
  const SharedRun run = loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_slow", {.factor = 2}));
  const auto& kinds = run->comparison.kinds;
  const auto forward = std::find_if(kinds.begin(), kinds.end(), [](const sim::ErrorRow& row) { return row.name == "forward.mlp"; });
  ASSERT_NE(forward, kinds.end());
  EXPECT_NEAR(forward->error(), -0.5, 0.01);
}

TEST(MeasuredRun, OpeningSaysHowFarItIsAndIsCancelled) {
  const std::string folder = cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_told");
  Progress progress;
  loadRun(folder, {}, &progress);
  EXPECT_GT(progress.share(), 0.8);
  progress.cancelled = true;
  EXPECT_THROW(loadRun(folder, {}, &progress), sim::InputError);
}

std::string refusalOf(const std::string& folder) {
  try {
    loadRun(folder);
  } catch (const sim::InputError& error) {
    return error.violations().front().problem;
  }
  return {};
}

TEST(MeasuredRun, RefusesWhatIsNoRunOrHalfOfOne) {
  EXPECT_THAT(refusalOf("no/such/folder"), testing::HasSubstr("no folder"));
  EXPECT_THAT(refusalOf("profiles"), testing::HasSubstr("plan.json"));
  const std::string folder = cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_half");
  std::filesystem::resize_file(folder + "/trace.1.json", std::filesystem::file_size(folder + "/trace.1.json") / 2);
  EXPECT_FALSE(refusalOf(folder).empty());
  std::filesystem::remove(folder + "/trace.1.json");
  EXPECT_FALSE(refusalOf(folder).empty());
}

}  // namespace
}  // namespace gui
