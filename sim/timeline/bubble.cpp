#include "sim/timeline/bubble.h"

#include <algorithm>

#include "sim/timeline/intervals.h"
#include "sim/units/at.h"

namespace sim {
namespace {

struct DeviceStep {
  std::vector<Intervals::Interval> computing, communicating, delays;
  SimTime first_backward = SimTime::max(), last_forward{}, meets = SimTime::max();
};

void add(DeviceStep& device, const Task& task, const Activity& activity) {
  if (is_of_host(task.stream)) {  // computing waits for it, as for a host that issues late
    device.delays.push_back({activity.begin, activity.end});
    return;
  }
  const bool communicates = task.stream != Stream::Compute;
  (communicates ? device.communicating : device.computing).push_back({activity.begin, activity.end});
  if (activity.delay() > SimTime(0)) device.delays.push_back({activity.ready, activity.begin});
  if (communicates && task.key.phase == Phase::Step) device.meets = std::min(device.meets, activity.begin);
  if (communicates || !task.key.microbatch.exists()) return;
  if (task.key.phase == Phase::Forward) device.last_forward = std::max(device.last_forward, activity.end);
  if (task.key.phase == Phase::Backward) device.first_backward = std::min(device.first_backward, activity.begin);
}

std::vector<DeviceStep> device_steps(const Dependencies& step, const TaskGraph& graph) {
  std::vector<DeviceStep> devices(graph.devices().size());
  for (std::size_t at = 0; at < graph.tasks().size(); ++at)
    if (step.span_of[at] >= 0)
      add(devices[graph.tasks()[at].device.position()], graph.tasks()[at], step.of(TaskId(static_cast<std::int32_t>(at))));
  return devices;
}

bool is_pipeline(const TaskGraph& graph) {
  return std::any_of(graph.devices().begin(), graph.devices().end(), [](const GraphDevice& device) { return device.stage.value() > 0; });
}

// Gives `cause` the part of `rest` that lies in `part`, and takes it away.
void give(IdleTime& idle, IdleCause cause, Intervals& rest, const Intervals& part) {
  sim::at(idle.by_cause, cause) += rest.length_within(part);
  rest = rest.without(part);
}

}  // namespace

SimTime IdleTime::idle() const {
  SimTime sum{};
  for (const SimTime time : by_cause) sum += time;
  return sum;
}

std::vector<IdleTime> idle_times(const Dependencies& step, const TaskGraph& graph) {
  const bool pipeline = is_pipeline(graph);
  std::vector<IdleTime> times;
  std::vector<SimTime> steady;  // by device: idle time without a cause so far
  for (const DeviceStep& device : device_steps(step, graph)) {
    IdleTime idle;
    const Intervals computing(device.computing);
    idle.computing = computing.length();
    Intervals rest = Intervals({{SimTime(0), step.end}}).without(computing);
    give(idle, IdleCause::ExposedCommunication, rest, Intervals(device.communicating));
    give(idle, IdleCause::Host, rest, Intervals(device.delays));
    if (pipeline) {
      const SimTime meets = std::min(device.meets, step.end);
      give(idle, IdleCause::WarmUp, rest, Intervals({{SimTime(0), std::min(device.first_backward, meets)}}));
      give(idle, IdleCause::Drain, rest, Intervals({{std::min(device.last_forward, meets), meets}}));
      give(idle, IdleCause::Imbalance, rest, Intervals({{meets, step.end}}));
    }
    steady.push_back(rest.length());
    times.push_back(idle);
  }
  SimTime most{};
  for (const IdleTime& idle : times) most = std::max(most, idle.computing);
  for (std::size_t at = 0; at < times.size(); ++at) {
    const SimTime less = std::min(steady[at], most - times[at].computing);
    sim::at(times[at].by_cause, IdleCause::Imbalance) += less;
    sim::at(times[at].by_cause, IdleCause::DependencyWait) += steady[at] - less;
  }
  return times;
}

IdleTime all_devices(const std::vector<IdleTime>& by_device, const TaskGraph& graph) {
  IdleTime sum;
  for (std::size_t device = 0; device < by_device.size(); ++device) {
    const std::int32_t ranks = graph.devices()[device].multiplicity;
    sum.computing += by_device[device].computing * ranks;
    for (std::size_t cause = 0; cause < kNumIdleCauses; ++cause) sum.by_cause[cause] += by_device[device].by_cause[cause] * ranks;
  }
  return sum;
}

}  // namespace sim
