#include "gui/core/counter.h"

#include <algorithm>

#include "gui/core/device_part.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

std::string memoryText(double bytes) { return sim::to_text(sim::Bytes(static_cast<std::int64_t>(bytes))); }
std::string loadText(double share) { return sim::percent(share); }

void addMoment(Counter& counter, std::int64_t time, double value) {
  if (!counter.time.empty() && counter.time.back() == time) {
    counter.value.back() = value;
  } else {
    counter.time.push_back(time);
    counter.value.push_back(value);
  }
}

Counter finished(Counter counter) {
  for (const double value : counter.value) counter.most = std::max(counter.most, value);
  return counter;
}

Counter memoryOf(const sim::SimulatedStep& step, sim::DeviceId device) {
  Counter counter{.name = "memory", .time = {}, .value = {}, .text = memoryText};
  for (const sim::MemorySample& sample : partOf(step.timeline.memory, device))
    addMoment(counter, sample.time.count(), static_cast<double>(sim::total(sample.alive).value()));
  return finished(std::move(counter));
}

// Share of a window that the device computes; windows are small against the step, large against a task.
Counter utilizationOf(const sim::SimulatedStep& step, sim::DeviceId device, sim::SimTime end) {
  constexpr std::int64_t kWindows = 200;
  const std::int64_t window = end.count() / kWindows + 1;
  std::vector<std::int64_t> busy(kWindows);
  for (const sim::Span& span : partOf(step.timeline.spans, device)) {
    if (span.stream != sim::Stream::Compute) continue;
    for (std::int64_t at = span.start.count(); at < span.end.count();) {
      const std::int64_t until = std::min((at / window + 1) * window, span.end.count());
      sim::at(busy, at / window) += until - at;
      at = until;
    }
  }
  Counter counter{.name = "utilization", .time = {}, .value = {}, .text = loadText};
  for (std::size_t at = 0; at < busy.size(); ++at)
    addMoment(counter, static_cast<std::int64_t>(at) * window, static_cast<double>(busy[at]) / static_cast<double>(window));
  return finished(std::move(counter));
}

Counter loadOf(std::span<const sim::LoadSample> samples) {
  Counter counter{.name = "link load", .time = {}, .value = {}, .text = loadText};
  for (const sim::LoadSample& sample : samples) addMoment(counter, sample.time.count(), sample.load);
  return finished(std::move(counter));
}

}  // namespace

double Counter::highest(TimeRange range) const {
  auto at = std::upper_bound(time.begin(), time.end(), range.begin.count());
  double highest = at == time.begin() ? 0 : value[sim::position_in(time, at) - 1];
  for (; at != time.end() && *at < range.end.count(); ++at) highest = std::max(highest, sim::at(value, at - time.begin()));
  return highest;
}

std::vector<CounterRow> countersOf(const sim::SimulatedStep& step) {
  const std::vector<sim::LoadSample> loads = sim::port_loads(step);
  sim::SimTime end{};
  for (const sim::Span& span : step.timeline.spans) end = std::max(end, span.end);
  std::vector<CounterRow> counters;
  for (sim::DeviceId device(0); device.position() < step.graph.devices().size(); ++device) {
    const auto add = [&](Counter counter) { counters.push_back({device, std::make_shared<Counter>(std::move(counter))}); };
    add(utilizationOf(step, device, end));
    add(memoryOf(step, device));
    if (const std::span<const sim::LoadSample> load = partOf(loads, device); !load.empty()) add(loadOf(load));
  }
  return counters;
}

}  // namespace gui
