#include "sim/timeline/dependencies.h"

#include <algorithm>
#include <array>
#include <boost/graph/topological_sort.hpp>

#include "sim/units/at.h"

namespace sim {
namespace {

using Edge = std::pair<std::size_t, std::size_t>;

// Positions of tasks or spans, device by device and there by key: sorted in parts that a cache holds.
template <class Items>
std::vector<std::vector<std::uint32_t>> by_key(const Items& items, std::size_t num_devices) {
  std::vector<std::vector<std::uint32_t>> positions(num_devices);
  for (std::size_t at = 0; at < items.size(); ++at)
    if (items[at].device.position() < num_devices) positions[items[at].device.position()].push_back(static_cast<std::uint32_t>(at));
  for (std::vector<std::uint32_t>& of_device : positions)
    std::sort(of_device.begin(), of_device.end(), [&](std::uint32_t a, std::uint32_t b) { return items[a].key < items[b].key; });
  return positions;
}

std::vector<std::int64_t> positions_of_spans(const TaskGraph& graph, const Timeline& timeline) {
  const auto tasks = by_key(graph.tasks(), graph.devices().size()), spans = by_key(timeline.spans, graph.devices().size());
  std::vector<std::int64_t> positions(graph.tasks().size(), -1);
  for (std::size_t device = 0; device < tasks.size(); ++device) {
    auto next = spans[device].begin();
    for (const std::uint32_t at : tasks[device]) {
      const TaskKey& key = graph.tasks()[at].key;
      while (next != spans[device].end() && timeline.spans[*next].key < key) ++next;
      if (next != spans[device].end() && timeline.spans[*next].key == key) positions[at] = *next;
    }
  }
  return positions;
}

// The graph's edges and, for each stream, from a task to the next.
std::vector<Edge> all_edges(const TaskGraph& graph, StreamOrder order) {
  std::vector<Edge> edges;
  for (std::size_t from = 0; from < graph.tasks().size(); ++from) {
    const auto [begin, end] = boost::adjacent_vertices(from, graph.edges());
    for (auto to = begin; to != end; ++to) edges.emplace_back(from, *to);
  }
  for (DeviceId device(0); device.position() < graph.devices().size(); ++device) {
    std::array<TaskId, kNumStreams> last;
    last.fill(TaskId::none());
    for (const TaskId task : graph.issue_order(device)) {
      TaskId& before = sim::at(last, queue_of(order, graph.task(task).stream));
      if (before.exists()) edges.emplace_back(before.position(), task.position());
      before = task;
    }
  }
  return edges;
}

void number_activities(Dependencies& found, const TaskGraph& graph) {
  std::vector<std::int32_t> of_meeting(graph.rendezvous_sizes().size(), -1);
  for (std::size_t at = 0; at < graph.tasks().size(); ++at) {
    const std::int32_t meeting = graph.tasks()[at].rendezvous;
    const bool is_new = meeting < 0 || sim::at(of_meeting, meeting) < 0;
    if (is_new) found.activities.push_back({.task = TaskId(static_cast<std::int32_t>(at))});
    const std::int32_t activity = is_new ? static_cast<std::int32_t>(found.activities.size()) - 1 : sim::at(of_meeting, meeting);
    if (meeting >= 0) sim::at(of_meeting, meeting) = activity;
    found.activity_of.push_back(activity);
  }
}

void sort_activities(Dependencies& found, const std::vector<Edge>& edges) {
  std::vector<Edge> between;
  between.reserve(edges.size());
  for (const auto& [from, to] : edges) between.emplace_back(count_of(found.activity_of[from]), count_of(found.activity_of[to]));
  found.edges = TaskGraph::Graph(boost::edges_are_unsorted_multi_pass, between.begin(), between.end(), found.activities.size());
  std::vector<std::size_t> last_first;
  boost::topological_sort(found.edges, std::back_inserter(last_first));
  found.order.assign(last_first.rbegin(), last_first.rend());
}

// The latest end of what comes before; of equal ones the first edge's.
void time_activities(Dependencies& found, const Timeline& timeline, const std::vector<Edge>& edges) {
  const auto end_of = [&](std::size_t task) {
    return found.span_of[task] < 0 ? SimTime(0) : sim::at(timeline.spans, found.span_of[task]).end;
  };
  for (const auto& [from, to] : edges) {
    Activity& waits = sim::at(found.activities, found.activity_of[to]);
    if (waits.before.exists() && end_of(from) <= waits.ready) continue;
    waits.ready = end_of(from);
    waits.before = TaskId(static_cast<std::int32_t>(from));
    waits.task = TaskId(static_cast<std::int32_t>(to));
  }
  for (std::size_t task = 0; task < found.span_of.size(); ++task) {
    if (found.span_of[task] < 0) continue;
    const Span& span = sim::at(timeline.spans, found.span_of[task]);
    Activity& activity = sim::at(found.activities, found.activity_of[task]);
    activity.begin = std::max(activity.begin, span.start);
    activity.end = std::max(activity.end, span.end);
  }
  for (Activity& activity : found.activities) {  // clocks of several ranks may disagree a little
    activity.end = std::max(activity.end, activity.begin);
    activity.ready = std::min(activity.ready, activity.end);
    activity.begin = std::max(activity.begin, activity.ready);
    found.end = std::max(found.end, activity.end);
  }
}

}  // namespace

Dependencies dependencies_of(const TaskGraph& graph, const Timeline& timeline, StreamOrder order) {
  Dependencies found;
  found.span_of = positions_of_spans(graph, timeline);
  const std::vector<Edge> edges = all_edges(graph, order);
  number_activities(found, graph);
  sort_activities(found, edges);
  time_activities(found, timeline, edges);
  return found;
}

}  // namespace sim
