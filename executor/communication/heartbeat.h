// Writes what this rank is doing into the file that sim/task_graph/heartbeat_file.h describes: at the start of each task, with plain stores to mapped
// memory (no system call). Waits that last are noted there, too: who watches the run sees who waits for whom.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "executor/communication/wait_circle.h"
#include "sim/task_graph/heartbeat_file.h"

namespace executor {

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
  void note_wait(const Waiting& wait);         // of what was begun last

 private:
  sim::HeartbeatRecord& next_record();
  void publish();

  sim::HeartbeatFile* file_ = nullptr;
  std::int64_t step_ = -1;
  bool computes_ = false;  // what was begun last
};

}  // namespace executor
