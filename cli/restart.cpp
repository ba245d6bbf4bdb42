#include "cli/restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/exit_code.h"
#include "cli/run_folder.h"

namespace cli {

RestartPoint restart_point(const std::string& folder) {
  RestartPoint point;
  const std::vector<StepMetrics> metrics = read_metrics(folder);
  if (!metrics.empty()) point.reached = metrics.back().step;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/checkpoints", error)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kPrefix = "step_";
    std::int64_t step = 0;
    if (!name.starts_with(kPrefix) || !std::filesystem::exists(entry.path() / "index.json")) continue;
    const auto [end, error_of_number] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
    if (error_of_number == std::errc{} && end == name.data() + name.size()) point.from = std::max(point.from, step);
  }
  return point;
}

bool may_restart(int status) { return status != kSuccess && status != kUsage && status != kInputError && status != kInterrupted; }

std::string restart_text(const RestartPoint& point, const Restart& restart) {
  const std::string where =
      point.from == 0 ? std::string("the beginning: there is no checkpoint") : fmt::format("the checkpoint of step {}", point.from);
  const std::int64_t lost = std::max<std::int64_t>(0, point.reached - point.from);
  return fmt::format("restart {} of {}: goes on from {}; {} step{} done again", restart.number, restart.of, where, lost,
                     lost == 1 ? " is" : "s are");
}

}  // namespace cli
