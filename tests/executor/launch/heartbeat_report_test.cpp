#include "executor/launch/heartbeat_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "executor/communication/heartbeat.h"

namespace executor {
namespace {

TEST(HeartbeatReport, SaysRankStepPhaseAndTask) {
  const std::string folder = std::filesystem::temp_directory_path() / ("heartbeat-report-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  {
    Heartbeat first(folder, sim::Rank(0)), second(folder, sim::Rank(1));
    first.begin_activity("loading the checkpoint");
    second.begin_step({12});
    second.begin_task({.stage = sim::StageIndex(0), .phase = sim::Phase::Backward, .operation = sim::Operation::Mlp});
  }
  const std::string report = heartbeat_report(folder, 3);
  std::filesystem::remove_all(folder);
  EXPECT_THAT(report, testing::HasSubstr("rank 0: loading the checkpoint"));
  EXPECT_THAT(report, testing::HasSubstr("rank 1: step 12, phase backward, task s0.c-.m-.l-.backward.mlp.none.0"));
  EXPECT_THAT(report, testing::HasSubstr("rank 2: left no heartbeat"));
}

}  // namespace
}  // namespace executor
