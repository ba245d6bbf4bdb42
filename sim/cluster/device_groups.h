// Groups of different devices in one cluster, as training sees them whose ranks all have equal parts of the batch: at the end of a step each waits for the
// slowest, and a plan must fit the smallest. So the cluster is as many of a device that is, number by number, the least of them.
// Used to read cluster files; what follows of a cluster knows one profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/hardware_profile.h"

namespace sim {

struct DeviceGroup {
  HardwareProfile hardware;
  std::int32_t devices = 0;  // whole nodes of it
};

// Nodes of equal size, of one kind of device; else the reason why not.
std::optional<std::string> why_not_together(const std::vector<DeviceGroup>& groups);

// Kernels and efficiencies are those of the group whose products in 16 bit are slowest; rates, memories and links the least of any. Needs one group at least.
HardwareProfile least_of(const std::vector<DeviceGroup>& groups);

}  // namespace sim
