#include "gui/core/compared_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/units/unit_text.h"

namespace gui {
namespace {

sim::SimTime lengthOf(const sim::Span& span) { return span.end - span.start; }

// "A compute": which side a row is of; only the first of a device names it.
SliceRow labelled(SliceRow row, char side, std::uint32_t first_span) {
  if (row.stream.empty())
    row.stream = std::string(1, side);
  else
    row.stream = side == 'A' ? fmt::format("A {}", row.stream) : fmt::format("B {}", row.stream);
  row.opens_device &= side == 'A';
  row.first += first_span;
  return row;
}

}  // namespace

sim::IdleTime ComparedSide::idle() const {
  if (trace) {
    sim::IdleTime mean;
    const auto ranks = static_cast<std::int64_t>(trace->idle.size());
    for (const sim::IdleTime& one : trace->idle) {
      mean.computing += one.computing / ranks;
      for (std::size_t cause = 0; cause < sim::kNumIdleCauses; ++cause) mean.by_cause[cause] += one.by_cause[cause] / ranks;
    }
    return mean;
  }
  sim::IdleTime mean = sim::all_devices(measured ? run->idle : plan->idle, plan->graph);
  const std::int64_t ranks = plan->plan.mesh.ranks();
  mean.computing /= ranks;
  for (sim::SimTime& time : mean.by_cause) time /= ranks;
  return mean;
}

ComparedSide tracedSide(const SharedTraceStep& trace, const SharedPlan& plan) {
  return {.name = trace->name, .plan = plan, .run = nullptr, .measured = true, .trace = trace};
}

ComparedSide simulatedSide(const SharedPlan& plan) { return {.name = summaryOf(plan->plan), .plan = plan, .run = nullptr}; }

std::vector<ComparedSide> sidesOf(const SharedRun& run) {
  return {{.name = run->calibrated ? fmt::format("{}: simulated, calibrated", run->folder) : fmt::format("{}: simulated", run->folder),
           .plan = run->simulated,
           .run = run},
          {.name = fmt::format("{}: measured, step {}", run->folder, run->step), .plan = run->simulated, .run = run, .measured = true}};
}

ComparedSteps::ComparedSteps(ComparedSide left_side, ComparedSide right_side)
    : left(std::move(left_side)), right(std::move(right_side)), pairing(pairUp(left.timeline(), right.timeline())) {}

const sim::Comparison* ComparedSteps::wholeRun() const {
  return right.isOfRun() && !left.measured && left.run == right.run ? &right.run->comparison : nullptr;
}

double ratioOf(const ComparedSteps& steps, const Pair& pair) {
  const auto left = static_cast<double>(lengthOf(steps.left.timeline().spans[pair.left]).count());
  const auto right = static_cast<double>(lengthOf(steps.right.timeline().spans[pair.right]).count());
  return left > 0 ? right / left : right > 0 ? 1e9 : 1;
}

SharedCore overlaid(const ComparedSteps& steps) {
  std::vector<SliceRow> rows;
  const std::span<const SliceRow> left = steps.left.core()->rows(), right = steps.right.core()->rows();
  const auto num_left = static_cast<std::uint32_t>(steps.left.timeline().spans.size());
  std::size_t l = 0, r = 0;
  const auto behind = [](std::span<const SliceRow> all, std::size_t at) { return at >= all.size() || all[at].opens_device; };
  while (l < left.size() || r < right.size()) {  // device by device, in it stream by stream
    if (l < left.size()) rows.push_back(labelled(left[l++], 'A', 0));
    if (r < right.size()) rows.push_back(labelled(right[r++], 'B', num_left));
    while (!behind(left, l) || !behind(right, r)) {
      if (!behind(left, l)) rows.push_back(labelled(left[l++], 'A', 0));
      if (!behind(right, r)) rows.push_back(labelled(right[r++], 'B', num_left));
    }
  }
  return std::make_shared<TimelineCore>(std::move(rows));
}

SharedCore differences(const ComparedSteps& steps) {
  std::vector<WorkKind> kinds(steps.right.timeline().spans.size(), WorkKind::Unmatched);
  for (const Pair& pair : steps.pairing.pairs) kinds[pair.right] = kindOfRatio(ratioOf(steps, pair));
  std::vector<SliceRow> rows;
  for (const SliceRow& row : steps.right.core()->rows()) {
    if (row.repeats) continue;
    rows.push_back(row);
    rows.back().slices = std::make_shared<SliceColumns>(*row.slices);
    for (std::size_t at = 0; at < row.size(); ++at) rows.back().slices->kind[at] = kinds[row.spanOf(at)];
  }
  return std::make_shared<TimelineCore>(std::move(rows));
}

std::vector<CounterRow> lags(const ComparedSteps& steps) {
  std::vector<std::map<std::int64_t, double>> lag(steps.right.timeline().devices.size());
  for (const Pair& pair : steps.pairing.pairs) {
    const sim::Span &left = steps.left.timeline().spans[pair.left], &right = steps.right.timeline().spans[pair.right];
    lag[right.device.position()][right.end.count()] = std::max(0.0, static_cast<double>((right.end - left.end).count()));
  }
  std::vector<CounterRow> counters;
  for (std::size_t device = 0; device < lag.size(); ++device) {
    Counter counter{.name = "lag", .time = {}, .value = {}, .text = [](double value) {
                      return sim::to_text(sim::to_seconds(sim::SimTime(static_cast<std::int64_t>(value))));
                    }};
    for (const auto& [time, value] : lag[device]) {
      counter.time.push_back(time);
      counter.value.push_back(value);
      counter.most = std::max(counter.most, value);
    }
    counters.push_back({sim::DeviceId(static_cast<std::int32_t>(device)), std::make_shared<Counter>(std::move(counter))});
  }
  return counters;
}

}  // namespace gui
