#include "gui/import/trace_kernels.h"

#include <algorithm>
#include <map>
#include <utility>

#include "gui/import/kernel_kind.h"

namespace gui {
namespace {

constexpr std::int64_t kMostRanks = 1 << 30;  // one beyond is of no plan

bool isOf(const TraceFile& file, std::uint32_t span) {
  return span >= file.first_span && span < file.first_span + static_cast<std::uint64_t>(file.slices);
}

// Where a GPU has its own, of when it worked at the step, the host's, which runs ahead of it, does not count.
std::vector<TimeRange> stepsOf(const ImportedTrace& trace, const TraceFile& file) {
  std::map<std::string, TimeRange> of_host, of_device;
  std::vector<bool> is_device;
  for (const SliceRow& row : trace.core.rows()) {
    if (row.opens_device || is_device.empty()) is_device.push_back(false);
    for (std::size_t at = 0; !file.on_host && at < row.size(); ++at)
      is_device.back() = is_device.back() || row.slices->kind[at] != WorkKind::Host;
  }
  std::size_t device = 0;
  bool is_first = true;
  for (const SliceRow& row : trace.core.rows()) {
    device += row.opens_device && !is_first;
    is_first = false;
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::string& name = trace.nameOf(row.spanOf(at));
      if (isOf(file, row.spanOf(at)) && name.starts_with("ProfilerStep#"))
        (is_device[device] ? of_device : of_host)[name] = {sim::SimTime(row.slices->start[at]), sim::SimTime(row.slices->end[at])};
    }
  }
  std::vector<TimeRange> steps;
  for (const auto& [name, range] : of_device.empty() ? of_host : of_device) steps.push_back(range);
  std::sort(steps.begin(), steps.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  return steps;
}

std::size_t medianAfterFirst(const std::vector<TimeRange>& steps) {
  std::vector<std::size_t> order;
  for (std::size_t at = steps.size() > 1 ? 1 : 0; at < steps.size(); ++at) order.push_back(at);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a].length() < steps[b].length(); });
  return order[(order.size() - 1) / 2];
}

using Kernels = std::vector<TracedKernel>;

bool isIn(const std::optional<TimeRange>& step, const TracedKernel& kernel) {
  return !step || (kernel.start >= step->begin && kernel.start < step->end);
}

Kernels ofDevices(const ImportedTrace& trace, const TraceFile& file, const std::optional<TimeRange>& step) {
  Kernels kernels;
  if (file.on_host) return kernels;
  for (const SliceRow& row : trace.core.rows())
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::uint32_t span = row.spanOf(at);
      if (!isOf(file, span) || row.slices->kind[at] == WorkKind::Host) continue;
      const TracedKernel kernel{trace.nameOf(span), row.slices->kind[at], sim::SimTime(row.slices->start[at]),
                                sim::SimTime(row.slices->end[at])};
      if (isIn(step, kernel)) kernels.push_back(kernel);
    }
  return kernels;
}

// Of the nested operators of a thread those that compute: an outer one that is a product, an attention or a norm; else the innermost.
void addInnermost(Kernels operators, Kernels& kernels) {
  std::stable_sort(operators.begin(), operators.end(),
                   [](const TracedKernel& a, const TracedKernel& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  sim::SimTime taken{};  // what began before lies in one that was taken
  for (std::size_t at = 0; at < operators.size(); ++at) {
    const TracedKernel& one = operators[at];
    if (one.start < taken) continue;
    const bool holds_others = at + 1 < operators.size() && operators[at + 1].start < one.end;
    if (one.kind == WorkKind::Kernel && holds_others) continue;
    kernels.push_back(one);
    taken = one.end;
  }
}

Kernels ofHost(const ImportedTrace& trace, const TraceFile& file, const std::optional<TimeRange>& step) {
  Kernels kernels;
  std::map<std::pair<std::string, std::string>, Kernels> by_thread;
  for (const SliceRow& row : trace.core.rows())
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::uint32_t span = row.spanOf(at);
      if (!isOf(file, span)) continue;
      const std::string& name = trace.nameOf(span);
      const TracedKernel one{name, kindOfOperator(name), sim::SimTime(row.slices->start[at]), sim::SimTime(row.slices->end[at])};
      if (one.kind != WorkKind::Host && isIn(step, one)) by_thread[{row.device, row.stream}].push_back(one);
    }
  for (auto& [thread, operators] : by_thread) addInnermost(std::move(operators), kernels);
  return kernels;
}

TracedRank kernelsIn(const ImportedTrace& trace, const TraceFile& file, std::optional<TimeRange> step) {
  TracedRank rank;
  rank.kernels = ofDevices(trace, file, step);
  if (rank.kernels.empty()) rank.kernels = ofHost(trace, file, step);
  std::stable_sort(rank.kernels.begin(), rank.kernels.end(),
                   [](const TracedKernel& a, const TracedKernel& b) { return a.start < b.start; });
  if (rank.kernels.empty()) return rank;
  const sim::SimTime begin = step ? step->begin : rank.kernels.front().start;
  sim::SimTime last{};
  for (TracedKernel& kernel : rank.kernels) {
    kernel.start -= begin;
    kernel.end -= begin;
    last = std::max(last, kernel.end);
  }
  rank.length = std::max(last, step ? step->length() : last);
  return rank;
}

}  // namespace

std::vector<TracedRank> kernelsOfStep(const ImportedTrace& trace, const sim::Told& told) {
  std::vector<TracedRank> ranks;
  std::optional<std::size_t> chosen;  // the same step on all ranks
  for (std::size_t at = 0; at < trace.files.size(); ++at) {
    const TraceFile& file = trace.files[at];
    const std::vector<TimeRange> steps = stepsOf(trace, file);
    if (!chosen && !steps.empty()) chosen = medianAfterFirst(steps);
    const std::optional<TimeRange> step = chosen && *chosen < steps.size() ? std::optional(steps[*chosen]) : std::nullopt;
    ranks.push_back(kernelsIn(trace, file, step));
    ranks.back().rank = sim::Rank(
        static_cast<std::int32_t>(std::min<std::int64_t>(file.rank >= 0 ? file.rank : static_cast<std::int64_t>(at), kMostRanks)));
    if (told) told({.done = static_cast<std::int64_t>(ranks.size()), .all = static_cast<std::int64_t>(trace.files.size())});
  }
  return ranks;
}

}  // namespace gui
