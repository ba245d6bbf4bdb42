// A run that was seen, as a line of the history: what was trained by which plan, how fast, how far from its prediction. Kept as a file
// ("meshwright.runs/1") that outlives the runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gui {

struct RunRecord {
  std::string folder;
  std::string plan;          // summaryOf
  std::int64_t started = 0;  // seconds since 1970
  std::int64_t steps = 0;
  double loss = 0, tokens_per_second = 0;  // of the last step; of the median step
  std::optional<double> error{};           // of the simulated step time: simulated / measured - 1
  bool operator==(const RunRecord&) const = default;
};

RunRecord recordOf(const std::string& run_folder);                                 // as it is now; throws sim::InputError: there is no plan
void note(std::vector<RunRecord>& history, RunRecord run);                         // newest first, a folder once
void saveHistory(const std::vector<RunRecord>& history, const std::string& path);  // throws sim::InputError
std::vector<RunRecord> loadHistory(const std::string& path);                       // none: there is no file; throws sim::InputError

}  // namespace gui
