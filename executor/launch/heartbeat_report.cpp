#include "executor/launch/heartbeat_report.h"

#include <fmt/format.h>

#include "executor/communication/heartbeat.h"

namespace executor {

std::string heartbeat_report(const std::string& folder, std::int32_t ranks) {
  std::string text;
  for (sim::Rank rank{0}; rank.value() < ranks; ++rank) {
    const auto reading = read_heartbeat(folder, rank);
    if (!reading)
      text += fmt::format("rank {}: left no heartbeat\n", rank.value());
    else if (reading->phase.empty())
      text += fmt::format("rank {}: {} (process {})\n", rank.value(), reading->doing, reading->process);
    else
      text += fmt::format("rank {}: step {}, phase {}, task {} (process {})\n", rank.value(), reading->step, reading->phase, reading->doing,
                          reading->process);
  }
  return text;
}

}  // namespace executor
