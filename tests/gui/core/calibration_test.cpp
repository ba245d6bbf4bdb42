#include "gui/core/calibration.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "sim/units/input_error.h"
#include "tests/cli/simulated_run.h"

namespace gui {
namespace {

TEST(Calibration, APlantedSlowdownIsPricedInAndTheQuestionIsTheRuns) {
  const std::string folder = cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_calibration", {.factor = 2});
  const Calibration calibration = calibrateBy(*loadRun(folder));
  for (const sim::ErrorRow& kind : calibration.run->comparison.kinds) EXPECT_NEAR(kind.error(), 0, 0.02) << kind.name;
  EXPECT_TRUE(calibration.run->calibrated);
  EXPECT_TRUE(std::filesystem::exists(folder + "/calibrated.json"));
  const planner::SearchRequest request = searchRequest(calibration.next);
  EXPECT_EQ(request.cluster.devices, 2);
  EXPECT_FALSE(request.cluster.hardware.corrections.empty());
  EXPECT_EQ(request.workload.global_batch, cli::test::simulated_plan().workload.global_batch);
}

TEST(Calibration, SaysHowFarItIsAndIsCancelled) {
  const SharedRun run = loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_calibration_told"));
  Progress progress;
  calibrateBy(*run, &progress);
  EXPECT_GT(progress.share(), 0.8);
  progress.cancelled = true;
  EXPECT_THROW(calibrateBy(*run, &progress), sim::InputError);
}

}  // namespace
}  // namespace gui
