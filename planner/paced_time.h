// What tasks that follow each other on a device take when their host issues them one by one (sim/engine/host_queue.h). Of the times since when the device is free
// and since when the host may issue, tasks make others, by sums and maxima alone:
//
//   device' = max(device + time, host + issued)        host' = max(device + waited, host + issue)
#pragma once

#include <algorithm>

#include "sim/units/sim_time.h"

namespace planner {

inline constexpr sim::SimTime kNever = sim::SimTime::min() / 4;  // so long before all that sums of it are, too

struct PacedTime {
  sim::SimTime time{};          // of the device, which waits for nobody
  sim::SimTime issued{kNever};  // from when the host begins to issue, until the device has ended; kNever: there is no task
  sim::SimTime issue{};         // of the host, which waits for nobody
  sim::SimTime waited{
      kNever};  // from when the device begins, until the host that waits for a result may issue again; kNever: it waits for none
  bool operator==(const PacedTime&) const = default;
};

// Of one task: the host waits for its end where it `drains`.
struct IssuedTask {
  sim::SimTime time{}, issue{};
  bool drains = false;
};
constexpr PacedTime paced(IssuedTask task) {
  return {.time = task.time,
          .issued = task.time,
          .issue = task.drains ? std::max(task.issue, task.time) : task.issue,
          .waited = task.drains ? task.time : kNever};
}

// One behind the other.
constexpr PacedTime operator+(const PacedTime& before, const PacedTime& after) {
  return {.time = std::max(before.time + after.time, before.waited + after.issued),
          .issued = std::max(before.issued + after.time, before.issue + after.issued),
          .issue = std::max(before.issued + after.waited, before.issue + after.issue),
          .waited = std::max(before.time + after.waited, before.waited + after.issue)};
}

struct Paces {
  sim::SimTime device{}, host{};  // since when each is free
  void take(const PacedTime& tasks) {
    *this = {.device = std::max(device + tasks.time, host + tasks.issued), .host = std::max(device + tasks.waited, host + tasks.issue)};
  }
};

}  // namespace planner
