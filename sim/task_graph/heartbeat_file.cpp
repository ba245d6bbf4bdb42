#include "sim/task_graph/heartbeat_file.h"

#include <fstream>
#include <iterator>

namespace sim {

std::string heartbeat_path(const std::string& folder, Rank rank) { return folder + "/heartbeat." + std::to_string(rank.value()); }

std::optional<HeartbeatReading> read_heartbeat(const std::string& folder, Rank rank) {
  HeartbeatFile file;
  std::ifstream stream(heartbeat_path(folder, rank), std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(&file), sizeof file) || file.written <= 0) return std::nullopt;
  HeartbeatRecord& record = file.records[file.written % 2];
  record.activity[sizeof record.activity - 1] = file.wait.in[sizeof file.wait.in - 1] = '\0';
  HeartbeatReading reading;
  reading.process = file.process;
  reading.written = file.written;
  reading.step = record.step;
  reading.doing = record.activity;
  reading.unix_nanoseconds = record.unix_nanoseconds;
  reading.computing_nanoseconds = file.computing_nanoseconds;
  reading.waits = file.wait.of == file.written;
  if (reading.waits) {
    reading.waits_for = file.wait.for_rank < 0 ? Rank::none() : Rank(file.wait.for_rank);
    reading.waits_in = file.wait.in;
  }
  if (!reading.doing.empty()) return reading;
  reading.doing = to_text(record.key);
  const auto phase = static_cast<std::size_t>(record.key.phase);
  if (phase < std::size(kPhaseNames)) reading.phase = kPhaseNames[phase];
  return reading;
}

std::string heartbeat_text(const std::string& folder, Rank rank) {
  const std::optional<HeartbeatReading> reading = read_heartbeat(folder, rank);
  std::string text = "rank " + std::to_string(rank.value()) + ": ";
  if (!reading) return text + "left no heartbeat";
  if (!reading->phase.empty()) text += "step " + std::to_string(reading->step) + ", phase " + reading->phase + ", task ";
  text += reading->doing;
  const std::string whom = reading->waits_for.exists() ? " for rank " + std::to_string(reading->waits_for.value()) : "";
  if (reading->waits) text += ", waits" + whom + " in " + reading->waits_in;  // nobody in particular: all came, and a message is missing
  return text + " (process " + std::to_string(reading->process) + ")";
}

}  // namespace sim
