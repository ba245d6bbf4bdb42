// The host of each device: one thread that issues the tasks of the device's program in their order. It runs ahead of the device, so that its time shows
// only where it is the slower of the two, or where it had to wait for a result and is no longer ahead (`drains`).
//
//   host     [issue a][issue b][issue c]. waits for c .[issue d][issue e]
//   device           [a ======][b ==][c ======]         [d =]    [e ==]
//                                              drains ^
//
// A task may start when the host begins to issue it: what it issues while the task runs is hidden by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/at.h"

namespace sim {

class HostQueue {
 public:
  // `cost(task)`: its TaskCost. Empty, and free, where no task takes time of the host.
  template <typename CostOf>
  HostQueue(const TaskGraph& graph, CostOf cost) {
    const auto costs_time = [&](std::size_t task) { return cost(task).issue.count() > 0; };
    std::size_t first = 0;
    while (first < graph.tasks().size() && !costs_time(first)) ++first;
    if (first == graph.tasks().size()) return;
    offsets_.resize(graph.tasks().size());
    lead_.resize(graph.devices().size());
    for (DeviceId device(0); device.position() < graph.devices().size(); ++device) {
      SimTime sum{};
      for (const TaskId task : graph.issue_order(device)) {
        offsets_[task.position()] = sum;
        sum += cost(task.position()).issue;
      }
    }
  }
  bool is_idle() const { return offsets_.empty(); }

  // When the host begins to issue the task, as far as is known: only what is behind the last wait of the host.
  SimTime issued(std::int32_t task, DeviceId device) const {
    return is_idle() ? SimTime(0) : lead_[device.position()] + sim::at(offsets_, task);
  }
  // The host has waited for this task, which it issued in `issue`.
  void waited(std::int32_t task, DeviceId device, SimTime issue, SimTime now) {
    SimTime& lead = lead_[device.position()];
    lead = std::max(lead, now - sim::at(offsets_, task) - issue);
  }

 private:
  std::vector<SimTime> offsets_;  // by task: what the host issues before it, of the same device
  std::vector<SimTime> lead_;     // by device: how much later it is than that, because it waited
};

}  // namespace sim
