// What a rank is doing, in a small file that outlives it: a rank killed with SIGKILL cannot say where it was. Written by the worker at the
// start of each task with plain stores to mapped memory (no system call), read by the launcher for its report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/task_graph/task.h"
#include "sim/units/index.h"

namespace executor {

struct HeartbeatReading {
  std::int64_t process = 0;           // its id
  std::int64_t step = -1;             // -1: before the first
  std::string doing;                  // the task's key as text, or an activity outside of a step: "loading the data"
  std::string phase;                  // "forward", ...; empty outside of a step
  std::int64_t unix_nanoseconds = 0;  // when it began
};

class Heartbeat {
 public:
  // Makes <folder>/heartbeat.<rank>. Throws std::runtime_error naming the disk's reason.
  Heartbeat(const std::string& folder, sim::Rank rank);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  struct Step {
    std::int64_t number = 0;
  };
  void begin_step(Step step) { step_ = step.number; }
  void begin_task(const sim::TaskKey& key);
  void begin_activity(std::string_view what);  // cut at 63 characters

 private:
  struct Record;
  struct File;
  Record& next_record();
  void publish();
  friend std::optional<HeartbeatReading> read_heartbeat(const std::string& folder, sim::Rank rank);

  File* file_ = nullptr;
  std::int64_t step_ = -1;
};

// nullopt: there is none, or the rank has not written yet.
std::optional<HeartbeatReading> read_heartbeat(const std::string& folder, sim::Rank rank);

}  // namespace executor
