// The memory of one device over a step, as steps of a stacked chart: what lies between two pixels is folded to its highest total.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gui/core/time_axis.h"
#include "sim/timeline/timeline.h"

namespace gui {

struct MemoryPeak {
  sim::SimTime time{};
  sim::Bytes memory{};
};

class MemoryCurve {
 public:
  MemoryCurve() = default;
  MemoryCurve(const sim::Timeline& timeline, sim::DeviceId device);  // copies the device's samples
  explicit MemoryCurve(std::vector<sim::MemorySample> samples);      // of one device, by time

  bool empty() const { return samples_.empty(); }
  const sim::MemoryBreakdown& at(sim::SimTime time) const;  // alive from the sample before on; not empty
  sim::MemoryBreakdown highest(TimeRange range) const;      // the composition of the largest total in it
  MemoryPeak peak() const { return peak_; }
  sim::SimTime end() const { return empty() ? sim::SimTime() : samples_.back().time; }

 private:
  std::size_t before(sim::SimTime time) const;
  void findPeak();

  std::vector<sim::MemorySample> samples_;
  MemoryPeak peak_;
};

}  // namespace gui
