#include "sim/cost/port_load.h"

#include <algorithm>

#include "sim/cost/cost_model.h"
#include "sim/cost/placement.h"
#include "sim/units/at.h"

namespace sim {
namespace {

struct LoadChange {
  SimTime time{};
  double load = 0;
};

// A task that has its share for itself takes it for its duration; squeezed by others it takes less for longer, evenly as far as is known here.
std::vector<std::vector<LoadChange>> load_changes(const SimulatedStep& step) {
  const CostModel costs(step.model, step.plan);
  const Placement placement(step.plan);
  std::vector<std::vector<LoadChange>> changes(step.graph.devices().size());
  for (std::size_t task = 0; task < step.explained.span_of.size(); ++task) {
    const Task& moved = step.graph.tasks()[task];
    if (!is_communication(moved.key.operation) || step.explained.span_of[task] < 0) continue;
    const Span& span = sim::at(step.timeline.spans, step.explained.span_of[task]);
    if (span.end <= span.start) continue;
    const TaskCost& cost = costs.cost(moved, step.graph);
    for (std::size_t at = 0; at < cost.num_uses; ++at) {
      if (cost.uses[at].link != placement.port(step.graph.devices()[moved.device.position()].representative)) continue;
      const auto length = static_cast<double>((span.end - span.start).count());
      const double load = cost.uses[at].share * std::min(1.0, static_cast<double>(cost.duration.count()) / length);
      changes[moved.device.position()].push_back({span.start, load});
      changes[moved.device.position()].push_back({span.end, -load});
    }
  }
  return changes;
}

void add_sample(std::vector<LoadSample>& samples, const LoadSample& sample) {  // several changes of an instant are one
  if (!samples.empty() && samples.back().device == sample.device && samples.back().time == sample.time)
    samples.back() = sample;
  else
    samples.push_back(sample);
}

}  // namespace

std::vector<LoadSample> port_loads(const SimulatedStep& step) {
  std::vector<std::vector<LoadChange>> changes = load_changes(step);
  std::vector<LoadSample> samples;
  for (DeviceId device(0); device.position() < changes.size(); ++device) {
    std::vector<LoadChange>& of_device = changes[device.position()];
    std::stable_sort(of_device.begin(), of_device.end(), [](const LoadChange& a, const LoadChange& b) { return a.time < b.time; });
    double load = 0;
    for (const LoadChange& change : of_device) add_sample(samples, {device, change.time, std::clamp(load += change.load, 0.0, 1.0)});
  }
  return samples;
}

}  // namespace sim
