// What is alive on a device at a moment of a simulated step, and whose it is: the step is replayed up to there, as the memory tracker does it.
#pragma once

#include <optional>
#include <vector>

#include "gui/core/simulated_plan.h"
#include "sim/timeline/memory_snapshot.h"

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

// By layer and kind of tensor, as a memory snapshot of the plan has it.
struct AliveTensors {
  sim::LayerIndex layer = sim::LayerIndex::none();  // none: no layer's
  sim::MemoryCategory category{};
  std::optional<sim::Operation> taken_by{};  // none: there before the step
  std::int64_t blocks = 0;
  sim::Bytes amount{};
};
std::vector<AliveTensors> tensorsAt(const std::vector<sim::MemoryBlock>& blocks, sim::SimTime time);  // of a device; largest first
std::vector<sim::RankMemory> blocksOf(const SimulatedPlan& simulated);                                // by device of the simulation

// What a layer holds of a category over the step: the category's curve, cut by layers. By category, then by layer.
struct LayerStripe {
  sim::MemoryCategory category{};
  sim::LayerIndex layer = sim::LayerIndex::none();
  std::vector<sim::MemorySample> samples;
};
std::vector<LayerStripe> stripesOf(const std::vector<sim::MemoryBlock>& blocks);  // of a device

struct LayerMemory {
  sim::LayerIndex layer = sim::LayerIndex::none();  // none: no layer's
  sim::Bytes amount{};
};
std::vector<LayerMemory> aliveByLayer(const SimulatedPlan& simulated, const Moment& moment, sim::MemoryCategory category);  // largest first

Moment peakOf(const SimulatedPlan& simulated);  // of the fullest device

}  // namespace gui
