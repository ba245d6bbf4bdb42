#include "sim/timeline/critical_path.h"

#include <algorithm>
#include <map>

#include "sim/units/at.h"

namespace sim {
namespace {

// The first of those that end last.
const Activity* last_activity(const Dependencies& step) {
  const Activity* last = nullptr;
  for (const Activity& activity : step.activities)
    if (step.span_of[activity.task.position()] >= 0 && (last == nullptr || activity.end > last->end)) last = &activity;
  return last;
}

// Backward from the end. Where clocks disagree a link is cut, so that the links still follow each other.
std::vector<CriticalLink> chain_of(const Dependencies& step) {
  std::vector<CriticalLink> links;
  SimTime open = step.end;
  for (const Activity* at = last_activity(step); at != nullptr;) {
    const SimTime end = std::min(at->end, open), begin = std::min(at->begin, end);
    const Activity* before = at->before.exists() ? &step.of(at->before) : nullptr;
    const SimTime ready = before == nullptr ? SimTime(0) : std::min(at->ready, begin);
    const std::int64_t span = step.span_of[at->task.position()];
    if (span >= 0) links.push_back({static_cast<std::uint32_t>(span), begin - ready, begin, open});
    if (span >= 0) open = ready;
    at = before;
  }
  std::reverse(links.begin(), links.end());
  return links;
}

std::vector<SimTime> slacks_of(const Dependencies& step, const Timeline& timeline) {
  std::vector<SimTime> latest_end(step.activities.size(), step.end);
  for (auto at = step.order.rbegin(); at != step.order.rend(); ++at) {
    const auto activity = count_of(*at);
    const auto [begin, end] = boost::adjacent_vertices(activity, step.edges);
    for (auto next = begin; next != end; ++next) {
      const Activity& after = step.activities[*next];
      latest_end[activity] = std::min(latest_end[activity], latest_end[*next] - after.work() - after.delay());
    }
  }
  std::vector<SimTime> slack(timeline.spans.size());
  for (std::size_t task = 0; task < step.span_of.size(); ++task) {
    const auto activity = count_of(step.activity_of[task]);
    if (step.span_of[task] >= 0)
      sim::at(slack, step.span_of[task]) = std::max(SimTime(0), latest_end[activity] - step.activities[activity].end);
  }
  return slack;
}

}  // namespace

CriticalPath critical_path(const Dependencies& step, const Timeline& timeline) { return {chain_of(step), slacks_of(step, timeline)}; }

std::vector<CriticalKind> critical_kinds(const CriticalPath& path, const Timeline& timeline) {
  std::map<std::string, SimTime> sums;
  for (const CriticalLink& link : path.links) {
    sums[kind_text(timeline.spans[link.span].key)] += link.end - link.begin;
    if (link.delay > SimTime(0)) sums["host"] += link.delay;
  }
  std::vector<CriticalKind> kinds;
  for (const auto& [name, time] : sums)
    if (time > SimTime(0)) kinds.push_back({name, time});
  std::stable_sort(kinds.begin(), kinds.end(), [](const CriticalKind& a, const CriticalKind& b) { return a.time > b.time; });
  return kinds;
}

}  // namespace sim
