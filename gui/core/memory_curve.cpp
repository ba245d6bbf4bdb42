#include "gui/core/memory_curve.h"

#include <algorithm>

#include "gui/core/device_part.h"
#include "sim/units/at.h"

namespace gui {

MemoryCurve::MemoryCurve(const sim::Timeline& timeline, sim::DeviceId device) {
  const std::span<const sim::MemorySample> part = partOf(timeline.memory, device);
  samples_.assign(part.begin(), part.end());
  findPeak();
}

MemoryCurve::MemoryCurve(std::vector<sim::MemorySample> samples) : samples_(std::move(samples)) { findPeak(); }

void MemoryCurve::findPeak() {
  for (const sim::MemorySample& sample : samples_)
    if (const sim::Bytes sum = sim::total(sample.alive); sum > peak_.memory) peak_ = {sample.time, sum};
}

std::size_t MemoryCurve::before(sim::SimTime time) const {
  const auto after =
      std::upper_bound(samples_.begin(), samples_.end(), time, [](sim::SimTime t, const sim::MemorySample& s) { return t < s.time; });
  return after == samples_.begin() ? 0 : sim::position_in(samples_, after) - 1;
}

const sim::MemoryBreakdown& MemoryCurve::at(sim::SimTime time) const { return samples_[before(time)].alive; }

sim::MemoryBreakdown MemoryCurve::highest(TimeRange range) const {
  std::size_t best = before(range.begin);
  for (std::size_t i = best; i < samples_.size() && samples_[i].time < range.end; ++i)
    if (sim::total(samples_[i].alive) > sim::total(samples_[best].alive)) best = i;
  return samples_[best].alive;
}

}  // namespace gui
