#include "gui/core/calibration.h"

#include <gmock/gmock.h>

#include <filesystem>

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

}  // namespace
}  // namespace gui
