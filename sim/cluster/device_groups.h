// Groups of different devices in one cluster, as training sees them whose ranks all have equal parts of the batch: at the end of a step each waits for the
// slowest, and a plan must fit the smallest. So the cluster is as many of a device that is, number by number, the least of them.
// Where shares of the batch are given, a cluster keeps its groups, and a step is simulated with each rank's own device and part (sim/plan/group_shares.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/hardware_profile.h"
#include "sim/units/index.h"

namespace sim {

struct DeviceGroup {
  HardwareProfile hardware;
  std::int32_t devices = 0;  // whole nodes of it
  std::int64_t share = 0;    // of each microbatch, beside a device of the others; 0: all have equal parts
};

// Whose rank it is: groups hold ranks one behind the other. There must be one at least.
const DeviceGroup& group_of(const std::vector<DeviceGroup>& groups, Rank rank);

// Nodes of equal size, of one kind of device; else the reason why not.
std::optional<std::string> why_not_together(const std::vector<DeviceGroup>& groups);

// Kernels and efficiencies are those of the group whose products in 16 bit are slowest; rates, memories and links the least of any. Needs one group at least.
HardwareProfile least_of(const std::vector<DeviceGroup>& groups);

}  // namespace sim
