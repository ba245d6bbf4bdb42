#include "sim/timeline/measured_timeline.h"

#include <algorithm>
#include <utility>

#include "sim/units/at.h"

namespace sim {
namespace {

const MeasuredStep* find_step(const RankTrace& trace, std::int64_t number) {
  const auto found = std::find_if(trace.steps.begin(), trace.steps.end(), [&](const MeasuredStep& step) { return step.step == number; });
  return found == trace.steps.end() ? nullptr : &*found;
}

// -1: none is left after warm-up.
std::int64_t median_step_number(const RankTrace& trace, WarmUp warm_up) {
  if (std::cmp_less_equal(trace.steps.size(), warm_up.steps)) return -1;
  std::vector<const MeasuredStep*> steps;
  for (std::size_t at = count_of(warm_up.steps); at < trace.steps.size(); ++at) steps.push_back(&trace.steps[at]);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end(), [](const auto* a, const auto* b) { return a->duration < b->duration; });
  return (*middle)->step;
}

SimTime begin_of(const RankTrace& trace, const MeasuredStep& step) { return step.start + trace.clock_offset; }

}  // namespace

MedianStep median_step(const ParallelPlan& plan, const std::vector<RankTrace>& traces, WarmUp warm_up) {
  MedianStep median;
  median.number = traces.empty() ? -1 : median_step_number(traces.front(), warm_up);
  SimTime origin = SimTime::max();
  for (const RankTrace& trace : traces)
    if (const MeasuredStep* step = find_step(trace, median.number)) origin = std::min(origin, begin_of(trace, *step));
  for (const RankTrace& trace : traces) {
    const MeasuredStep* step = find_step(trace, median.number);
    if (step == nullptr) continue;
    const DeviceId device(static_cast<std::int32_t>(median.timeline.devices.size()));
    median.timeline.devices.push_back({trace.rank, plan.mesh.coordinate(trace.rank).stage, 1});
    const SimTime shift = begin_of(trace, *step) - origin;
    for (const Span& span : step->spans)
      median.timeline.spans.push_back({device, span.stream, span.key, span.start + shift, span.end + shift});
  }
  return median;
}

}  // namespace sim
