// A device, a program and a node for the tests of the clocks.
#pragma once

#include "sim/clock/link_clock.h"

namespace sim {

inline const Device& a100() {
  static const Device device = load_device("a100-80gb-sxm");
  return device;
}

inline const SoftwareStack& plain_stack() {
  static const SoftwareCatalog catalog = load_software_catalog();
  return catalog.named("plain");
}

inline Machine a100_machine() { return {.gpus_per_node = 8, .link_gbytes = 600, .network_gbits = 1600}; }

}  // namespace sim
