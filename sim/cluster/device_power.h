// What a device draws while it computes and while it does not, and the energy of a step by that. Two levels, nothing fitted: board power for as long
// as its compute stream is busy, idle power for the rest, whether it communicates by then, waits for a partner or has nothing to do.
// So Chung et al., "Reducing Energy Bloat in Large Model Training" (SOSP 2024) count the energy of a pipeline, blocked devices at a power of their own.
// That communication takes far less than computation is what Choukse et al., "Power Stabilization for AI Training Datacenters" (arXiv 2508.14318) measured
// in production. Hosts, switches and cooling are not in it; a device that computes draws less than its board may, so joules are an upper end.
#pragma once

#include <string>

#include "sim/units/json_fwd.h"
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace sim {

struct DevicePower {
  Watts load{};  // of the board at its limit, by the data sheet
  Watts idle{};  // with a program's memory held and no kernel running
  std::string source;
};

// Of one device: `computing` of `step`.
Joules energy(const DevicePower& power, Seconds step, Seconds computing);

// Block "power" of a hardware profile.
DevicePower device_power_from_json(const Json& profile, const std::string& file);
Json to_json(const DevicePower& power);

}  // namespace sim
