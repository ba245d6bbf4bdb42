// Optimizer states on the host (ZeRO-Offload, Ren et al., USENIX ATC 2021): gradients go down, the host steps through its memory, new weights come
// up. The one place where these are priced. What lies on drives is read in front of that and written behind it (ZeRO-Infinity, Rajbhandari et al. 2021).
#pragma once

#include <algorithm>

#include "sim/cluster/kernel_traits.h"

namespace sim {

struct HostClock {
  BytesPerSecond link{}, memory{},
      drive{};  // one direction of a device's link; what one rank's share of the host's memory and drives gives

  Seconds copy(double bytes) const { return Seconds(bytes / link.value()); }
  Seconds swap(double bytes) const { return Seconds(bytes / drive.value()); }
  Seconds step(double bytes) const { return Seconds(bytes / memory.value()); }  // read and written; bandwidth is all that AdamW needs
};

// traits.host_memory and traits.drive are the share of one device of a full node: the fewer ranks step there, the more each has.
struct HostRanks {
  std::int32_t of_node = 1, busy = 1;
};
inline HostClock host_clock(const KernelTraits& traits, HostRanks ranks = {}) {
  const double share = static_cast<double>(ranks.of_node) / std::max(1, ranks.busy);
  return {traits.host_link, BytesPerSecond(traits.host_memory.value() * share), BytesPerSecond(traits.drive.value() * share)};
}

}  // namespace sim
