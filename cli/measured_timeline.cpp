#include "cli/measured_timeline.h"

#include <algorithm>

namespace cli {
namespace {

const sim::MeasuredStep* find_step(const sim::RankTrace& trace, std::int64_t number) {
  const auto found = std::find_if(trace.steps.begin(), trace.steps.end(), [&](const sim::MeasuredStep& step) { return step.step == number; });
  return found == trace.steps.end() ? nullptr : &*found;
}

// -1: none is left after warm-up.
std::int64_t median_step_number(const sim::RankTrace& trace, sim::WarmUp warm_up) {
  if (trace.steps.size() <= static_cast<std::size_t>(warm_up.steps)) return -1;
  std::vector<const sim::MeasuredStep*> steps;
  for (std::size_t at = static_cast<std::size_t>(warm_up.steps); at < trace.steps.size(); ++at) steps.push_back(&trace.steps[at]);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end(), [](const auto* a, const auto* b) { return a->duration < b->duration; });
  return (*middle)->step;
}

sim::SimTime begin_of(const sim::RankTrace& trace, const sim::MeasuredStep& step) { return step.start + trace.clock_offset; }

}  // namespace

sim::Timeline median_step(const sim::ParallelPlan& plan, const std::vector<sim::RankTrace>& traces, sim::WarmUp warm_up) {
  sim::Timeline timeline;
  const std::int64_t number = traces.empty() ? -1 : median_step_number(traces.front(), warm_up);
  sim::SimTime origin = sim::SimTime::max();
  for (const sim::RankTrace& trace : traces)
    if (const sim::MeasuredStep* step = find_step(trace, number)) origin = std::min(origin, begin_of(trace, *step));
  for (const sim::RankTrace& trace : traces) {
    const sim::MeasuredStep* step = find_step(trace, number);
    if (step == nullptr) continue;
    const sim::DeviceId device(static_cast<std::int32_t>(timeline.devices.size()));
    timeline.devices.push_back({trace.rank, plan.mesh.coordinate(trace.rank).stage, 1});
    const sim::SimTime shift = begin_of(trace, *step) - origin;
    for (const sim::Span& span : step->spans) timeline.spans.push_back({device, span.stream, span.key, span.start + shift, span.end + shift});
  }
  return timeline;
}

}  // namespace cli
