#include "executor/launch/heartbeat_report.h"

#include "sim/task_graph/heartbeat_file.h"

namespace executor {

std::string heartbeat_report(const std::string& folder, std::int32_t ranks) {
  std::string text;
  for (sim::Rank rank{0}; rank.value() < ranks; ++rank) text += sim::heartbeat_text(folder, rank) + "\n";
  return text;
}

}  // namespace executor
