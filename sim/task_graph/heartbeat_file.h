// What a rank is doing, in a small file that outlives it: a rank killed with SIGKILL, or stopped, cannot say where it is. This is the file's layout and
// its reader. Written by the executor's Heartbeat with plain stores to mapped memory; read by the programs that watch a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/task_graph/task.h"
#include "sim/units/index.h"

namespace sim {

struct HeartbeatRecord {
  std::int64_t step;
  std::int64_t unix_nanoseconds;
  TaskKey key;
  char activity[64];  // empty: `key` says it
};

// Of a wait that lasts. It counts while `of` is the file's `written`: then the task that waits is still the same.
struct HeartbeatWait {
  std::int64_t of;
  std::int32_t for_rank;  // of the job; -1: nobody in particular
  char in[220];           // the operation
};

// Two records in turn, and a counter that is stored last: whenever the process dies, one record is whole.
struct HeartbeatFile {
  std::int64_t process;
  std::int64_t written;
  HeartbeatRecord records[2];
  std::int64_t computing_nanoseconds;  // in tasks that move no data, so far
  HeartbeatWait wait;
};

std::string heartbeat_path(const std::string& folder, Rank rank);

struct HeartbeatReading {
  std::int64_t process = 0;           // its id
  std::int64_t written = 0;           // tasks and activities so far: it moves where this does
  std::int64_t step = -1;             // -1: before the first
  std::string doing;                  // the task's key as text, or an activity outside of a step: "loading the data"
  std::string phase;                  // "forward", ...; empty outside of a step
  std::int64_t unix_nanoseconds = 0;  // when it began
  std::int64_t computing_nanoseconds = 0;
  bool waits = false;  // for another rank, for more than a second
  Rank waits_for = Rank::none();
  std::string waits_in;
};

// nullopt: there is none, or the rank has not written yet.
std::optional<HeartbeatReading> read_heartbeat(const std::string& folder, Rank rank);

// "rank 1: step 2, phase backward, task s0.c0... (process 4711)"; a rank that waits says for whom.
std::string heartbeat_text(const std::string& folder, Rank rank);

}  // namespace sim
