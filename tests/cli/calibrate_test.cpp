#include <gmock/gmock.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "tests/cli/simulated_run.h"

namespace cli {
namespace {

sim::HardwareProfile calibrate(const std::string& run_folder) {
  const std::string output = testing::TempDir() + "calibrated.json";
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(CalibrateOptions{.runs = {run_folder}, .cluster = "a100-80gb-sxm", .output = output}, Console(Form::Text)), kSuccess);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr(output));
  return sim::load_hardware_profile(output);
}

TEST(Calibrate, FindsThePlantedFactor) {
  const sim::HardwareProfile profile = calibrate(test::write_simulated_run(test::simulated_plan(), "calibrate", {.factor = 1.5}));
  double forward = 0, backward = 0;
  for (const sim::Correction& correction : profile.corrections) {
    if (correction.kind == "forward.mlp") forward = correction.factor;
    if (correction.kind == "backward.mlp") backward = correction.factor;
  }
  EXPECT_NEAR(forward, 1.5, 0.01);
  EXPECT_NEAR(backward, 1.0, 0.01);
}

TEST(Calibrate, TheProfileNamesItsTraces) {
  const std::string folder = test::write_simulated_run(test::simulated_plan(), "traces");
  EXPECT_THAT(calibrate(folder).traces, testing::ElementsAre(folder + "/trace.0.json", folder + "/trace.1.json"));
}

}  // namespace
}  // namespace cli
