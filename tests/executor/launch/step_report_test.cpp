#include "executor/launch/step_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"

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

// With what is made in it.
class Folder {
 public:
  Folder() { std::filesystem::create_directories(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string metrics() const { return path_ / "metrics.ndjson"; }
  std::size_t event_files() const {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
    return found;
  }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("step-report-" + std::to_string(getpid()));
};

TEST(StepReport, LineIsJson) {
  EXPECT_EQ(
      metrics_line(figures(3)),
      R"({"step":3,"loss":2.5,"grad_norm":1,"lr":0.5,"tokens_per_second":4000,"step_time_seconds":0.25,"memory_allocated_bytes":77})");
  StepFigures lost = figures(3);
  lost.summary.loss = std::nan("");
  EXPECT_THAT(metrics_line(lost), testing::HasSubstr(R"("loss":null)"));
}

TEST(StepReport, ResumingDropsTheLinesThatWereLost) {
  const Folder folder;
  const std::string path = folder.metrics();
  {
    StepReport report(path, {0}, {9});
    for (const std::int64_t step : {1, 2, 3, 4}) report.add(figures(step));
  }
  std::ofstream(path, std::ios::app) << "{\"step\":x}\n"
                                     << R"({"step":5,"lo)";  // damaged; the run died while writing
  { StepReport(path, {2}, {9}).add(figures(3)); }
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_EQ(folder.event_files(), 2u);  // one of each launch
  EXPECT_THAT(lines, testing::ElementsAre(metrics_line(figures(1)), metrics_line(figures(2)), metrics_line(figures(3))));
}

// A limit on the size of files is a full disk that anybody can have.
TEST(StepReport, LinesWaitForSpaceAndAreToldWhereTheyFindNone) {
  const Folder folder;
  const std::string path = folder.metrics();
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto limit = [&](std::size_t lines) {
    const rlimit small{.rlim_cur = lines * (metrics_line(figures(1)).size() + 1) + 10, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  };
  StepReport report(path, {0}, {9});
  limit(2);
  for (const std::int64_t step : {1, 2, 3, 4}) report.add(figures(step));
  EXPECT_THAT([&] { report.finish(); },
              testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("the lines from step 3 on could not be written")));
  setrlimit(RLIMIT_FSIZE, &before);
  report.add(figures(5));
  EXPECT_NO_THROW(report.finish());
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[2], metrics_line(figures(3)));
}

}  // namespace
}  // namespace executor
