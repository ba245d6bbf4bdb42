#include "sim/engine/memory_tracker.h"

#include <algorithm>
#include <utility>

#include "sim/units/at.h"

namespace sim {

MemoryTracker::MemoryTracker(std::vector<MemoryBreakdown> resident, Keep keep) : devices_(resident.size()), keep_(keep) {
  for (std::size_t at = 0; at < resident.size(); ++at) {
    devices_[at].alive = resident[at];
    devices_[at].sum = total(resident[at]);
    mark(DeviceId(static_cast<std::int32_t>(at)));
  }
  settle(SimTime(0));
}

void MemoryTracker::add(Device& device, const MemoryChange& change, std::int64_t sign) {
  const Bytes amount = change.amount * sign;
  sim::at(device.alive, change.category) += amount;
  device.sum += amount;
}

void MemoryTracker::mark(DeviceId id) {
  Device& device = devices_[id.position()];
  if (std::exchange(device.changed, true)) return;
  changed_.push_back(id);
}

void MemoryTracker::start(DeviceId id, const MemoryEffect& effect) {
  if (effect.at_start.empty() && effect.temporary.empty()) return;
  Device& device = devices_[id.position()];
  for (const MemoryChange& change : effect.at_start) add(device, change, 1);
  for (const MemoryChange& change : effect.temporary) add(device, change, 1);
  mark(id);
}

void MemoryTracker::end(DeviceId id, const MemoryEffect& effect) {
  if (effect.at_end.empty() && effect.temporary.empty()) return;
  Device& device = devices_[id.position()];
  for (const MemoryChange& change : effect.temporary) add(device, change, -1);
  for (const MemoryChange& change : effect.at_end) add(device, change, 1);
  mark(id);
}

void MemoryTracker::arrived(DeviceId sender, const MemoryEffect& effect_of_receive) {
  for (const MemoryChange& change : effect_of_receive.on_sender) add(devices_[sender.position()], change, 1);
  mark(sender);
}

void MemoryTracker::settle(SimTime now) {
  for (const DeviceId id : changed_) {
    Device& device = devices_[id.position()];
    device.changed = false;
    if (device.sum > device.peak.memory) device.peak = {device.sum, device.alive};
    if (keep_ == Keep::Samples) samples_.push_back({id, now, device.alive});
  }
  changed_.clear();
}

// Several samples of one instant (tasks that take no time): the last one stands.
std::vector<MemorySample> MemoryTracker::take_samples() {
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const MemorySample& a, const MemorySample& b) { return std::pair(a.device, a.time) < std::pair(b.device, b.time); });
  std::vector<MemorySample> kept;
  for (MemorySample& sample : samples_) {
    if (!kept.empty() && kept.back().device == sample.device && kept.back().time == sample.time)
      kept.back() = sample;
    else
      kept.push_back(sample);
  }
  return kept;
}

}  // namespace sim
