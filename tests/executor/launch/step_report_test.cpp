#include "executor/launch/step_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace executor {
namespace {

StepFigures figures(std::int64_t step) {
  return {.steps = {step},
          .summary = {.loss = 2.5, .gradient_norm = 1, .stop_requested = false},
          .learning_rate = 0.5,
          .time = std::chrono::milliseconds(250),
          .tokens_per_second = 4000,
          .memory = {.allocated_peak = sim::Bytes(77)}};
}

TEST(StepReport, LineIsJson) {
  EXPECT_EQ(
      metrics_line(figures(3)),
      R"({"step":3,"loss":2.5,"grad_norm":1,"lr":0.5,"tokens_per_second":4000,"step_time_seconds":0.25,"memory_allocated_bytes":77})");
  StepFigures lost = figures(3);
  lost.summary.loss = std::nan("");
  EXPECT_THAT(metrics_line(lost), testing::HasSubstr(R"("loss":null)"));
}

TEST(StepReport, ResumingDropsTheLinesThatWereLost) {
  const std::string path = std::filesystem::temp_directory_path() / ("step-report-" + std::to_string(getpid()));
  {
    StepReport report(path, {0}, {9});
    for (const std::int64_t step : {1, 2, 3, 4}) report.add(figures(step));
  }
  std::ofstream(path, std::ios::app) << "{\"step\":x}\n" << R"({"step":5,"lo)";  // damaged; the run died while writing
  { StepReport(path, {2}, {9}).add(figures(3)); }
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::filesystem::remove(path);
  EXPECT_THAT(lines, testing::ElementsAre(metrics_line(figures(1)), metrics_line(figures(2)), metrics_line(figures(3))));
}

}  // namespace
}  // namespace executor
