// Hardware for the tests of this room: round numbers, so that sums are exact.
#pragma once

#include "sim/cluster/hardware_profile.h"

namespace sim {

inline HardwareProfile two_per_node() {
  HardwareProfile profile;
  profile.name = "pair";
  profile.kind = DeviceKind::Gpu;
  profile.source = "made up for a test";
  profile.date = "2026-01-31";
  profile.memory = Bytes(1 << 30);
  profile.memory_bandwidth = BytesPerSecond(1e12);
  profile.peak[static_cast<std::size_t>(Precision::Fp32)] = FlopsPerSecond(1e13);
  profile.kernel_overhead = Seconds(4.5e-6);
  profile.devices_per_node = 2;
  profile.intra_node = {"bus", Seconds(2e-6), BytesPerSecond(100e9), BytesPerSecond(150e9)};
  profile.inter_node = {"wire", Seconds(5e-6), BytesPerSecond(10e9), {}};
  return profile;
}

}  // namespace sim
