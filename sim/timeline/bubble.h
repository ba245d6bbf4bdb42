// Where the idle time of a step comes from: the time in which a device computes nothing, taken apart by cause. The parts and the computing
// add up to the step, in picoseconds, on every device.
//
// Idle time belongs to the first cause that holds:
//   exposed communication  the device communicates (the work itself; waiting for a partner is not communicating)
//   host                   the next task could have begun: everything that it waits for had ended (in a simulation: the host issued it late)
//   warm-up                pipelines: before the first backward
//   drain                  pipelines: after the last forward, until the ranks meet for the step
//   imbalance              after that; and as much of the rest as the device computes less than the busiest one
//   dependency wait        the rest: schedule order and transfers
//
//   stage 0   F F F F . . B F B F B . B . B | step        p = 4, m = 6
//             ........ warm-up      drain....
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "sim/timeline/dependencies.h"
#include "sim/units/at.h"

namespace sim {

enum class IdleCause : std::uint8_t { WarmUp, Drain, Imbalance, ExposedCommunication, DependencyWait, Host };
inline constexpr std::string_view kIdleCauseNames[] = {"warm_up", "drain", "imbalance", "exposed_communication", "dependency_wait", "host"};
inline constexpr std::size_t kNumIdleCauses = 6;

struct IdleTime {
  SimTime computing{};
  std::array<SimTime, kNumIdleCauses> by_cause{};
  SimTime of(IdleCause cause) const { return sim::at(by_cause, cause); }
  SimTime idle() const;  // sum of the causes
  bool operator==(const IdleTime&) const = default;
};
std::vector<IdleTime> idle_times(const Dependencies& step, const TaskGraph& graph);    // by device
IdleTime all_devices(const std::vector<IdleTime>& by_device, const TaskGraph& graph);  // the sum over all ranks

}  // namespace sim
