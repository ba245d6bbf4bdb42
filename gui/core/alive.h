// What is alive on a device at a moment of a simulated step, and whose it is: the step is replayed up to there, as the memory tracker does it.
// Used by the Memory page and by answers.
#pragma once

#include <vector>

#include "gui/core/simulated_plan.h"

namespace gui {

struct AliveItem {
  sim::MemoryCategory category{};
  sim::MicrobatchIndex microbatch = sim::MicrobatchIndex::none();  // whose; none: no microbatch's
  sim::Bytes amount{};
  bool operator==(const AliveItem&) const = default;
};
struct Moment {
  sim::DeviceId device;
  sim::SimTime time{};
};
std::vector<AliveItem> aliveAt(const SimulatedPlan& simulated, const Moment& moment);  // largest first

struct LayerMemory {
  sim::LayerIndex layer = sim::LayerIndex::none();  // none: no layer's
  sim::Bytes amount{};
};
std::vector<LayerMemory> aliveByLayer(const SimulatedPlan& simulated, const Moment& moment, sim::MemoryCategory category);  // largest first

Moment peakOf(const SimulatedPlan& simulated);  // of the fullest device

}  // namespace gui
