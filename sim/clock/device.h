// A device as the clocks see it: its hardware profile, and how kernels and collectives behave on it.
#pragma once

#include <string>
#include <utility>

#include "sim/clock/behavior.h"
#include "sim/clock/kernel_setting.h"
#include "sim/cluster/hardware_profile.h"

namespace sim {

struct Device {
  Device() = default;
  explicit Device(HardwareProfile hardware) : profile(std::move(hardware)), kernels(profile.kernels.value_or(KernelTraits{})) {}
  HardwareProfile profile;
  KernelTraits kernels;  // of the profile, or defaults
  Behavior behavior = common_behavior();
  FlopsPerSecond matrix_peak(NumberFormat format) const;  // of the unit that such products run on
  FlopsPerSecond half_peak() const;                       // of the faster format of 16 bits
  double matrix_share(NumberFormat format, bool newer_libraries = false) const;
};

Device load_device(const std::string& path_or_name);

}  // namespace sim
