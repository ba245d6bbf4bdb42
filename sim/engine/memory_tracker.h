// What is alive on each device, by category, and the peak. Fed by the engine as tasks start and end.
// Frees of an instant come before its takes, and the peak is looked at when the instant is over: the order of unrelated
// tasks within one picosecond does not matter.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cost/memory_model.h"
#include "sim/timeline/timeline.h"

namespace sim {

class MemoryTracker {
 public:
  enum class Keep : std::uint8_t { Peak, Samples };
  // resident: what is alive before the step, by device.
  MemoryTracker(std::vector<MemoryBreakdown> resident, Keep keep);

  void start(DeviceId device, const MemoryEffect& effect);
  void end(DeviceId device, const MemoryEffect& effect);
  void arrived(DeviceId sender, const MemoryEffect& effect_of_receive);
  void settle(SimTime now);

  struct Peak {
    Bytes memory{};
    MemoryBreakdown composition{};
  };
  const Peak& peak(DeviceId device) const { return devices_[device.position()].peak; }
  const MemoryBreakdown& alive(DeviceId device) const { return devices_[device.position()].alive; }
  std::vector<MemorySample> take_samples();  // ordered by device, then time

 private:
  struct Device {
    MemoryBreakdown alive{};
    Bytes sum{};
    Peak peak;
    bool changed = false;
  };
  void add(Device& device, const MemoryChange& change, std::int64_t sign);
  void mark(DeviceId device);

  std::vector<Device> devices_;
  std::vector<DeviceId> changed_;
  std::vector<MemorySample> samples_;
  Keep keep_;
};

}  // namespace sim
