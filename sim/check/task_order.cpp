#include "sim/check/task_order.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/property_map/property_map.hpp>
#include <iterator>
#include <map>
#include <optional>

#include "sim/check/findings.h"
#include "sim/units/at.h"

namespace sim {
namespace {

using Graph = boost::compressed_sparse_row_graph<boost::directedS>;

}  // namespace

TaskOrder::TaskOrder(const TaskGraph& graph, StreamOrder order)
    : graph_(graph), place_(graph.tasks().size(), 0), next_in_stream_(graph.tasks().size(), -1), ended_(graph.tasks().size()) {
  link_streams(order);
  link_edges();
  sort();
}

std::size_t TaskOrder::vertex_of(std::size_t task) const {
  const std::int32_t rendezvous = graph_.tasks()[task].rendezvous;
  return rendezvous < 0 ? task : graph_.tasks().size() + count_of(rendezvous);
}

void TaskOrder::link_streams(StreamOrder order) {
  for (DeviceId device(0); device.position() < graph_.devices().size(); ++device) {
    std::array<std::optional<std::size_t>, kNumStreams> last;
    std::optional<std::size_t> last_of_all, last_computed_or_reduced;
    for (const TaskId id : graph_.issue_order(device)) {
      if (graph_.task(id).priority >= 0 && order == StreamOrder::Overlapping) continue;  // starts when it is ready and chosen
      auto& before = sim::at(last, graph_.task(id).stream);
      place_[id.position()] = before ? place_[*before] + 1 : 1;
      if (before) next_in_stream_[*before] = id.value();
      const Stream stream = graph_.task(id).stream;
      const bool waits_for_either = order == StreamOrder::ReduceInOrder && (stream == Stream::Compute || stream == Stream::Reduce);
      const auto& waits_for = order == StreamOrder::InOrder ? last_of_all : waits_for_either ? last_computed_or_reduced : before;
      if (waits_for) links_.emplace_back(vertex_of(*waits_for), vertex_of(id.position()));
      if (stream == Stream::Compute || stream == Stream::Reduce) last_computed_or_reduced = id.position();
      before = last_of_all = id.position();
    }
  }
}

void TaskOrder::link_edges() {
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task) {
    const auto [begin, end] = boost::adjacent_vertices(task, graph_.edges());
    for (auto next = begin; next != end; ++next) links_.emplace_back(vertex_of(task), vertex_of(*next));
  }
}

void TaskOrder::sort() {
  const std::size_t num_vertices = graph_.tasks().size() + graph_.rendezvous_sizes().size();
  const Graph graph(boost::edges_are_unsorted_multi_pass, links_.begin(), links_.end(), num_vertices);
  std::vector<std::size_t> component(num_vertices, 0), size(num_vertices, 0);
  boost::strong_components(graph, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  for (const std::size_t number : component) ++size[number];
  for (const auto& [from, to] : links_)
    if (from == to || (component[from] == component[to] && size[component[from]] > 1)) {
      circle_ = name_circle(component, from);
      return;
    }
  std::vector<std::size_t> sorted;
  boost::topological_sort(graph, std::back_inserter(sorted));
  std::reverse(sorted.begin(), sorted.end());
  set_clocks(sorted);
}

// Goes from task to awaited task inside the component until one comes back.
std::string TaskOrder::name_circle(const std::vector<std::size_t>& component, std::size_t inside) const {
  std::map<std::size_t, std::size_t> waits_for;
  for (const auto& [from, to] : links_)
    if (component[from] == component[inside] && component[to] == component[inside]) waits_for.emplace(to, from);
  std::vector<std::size_t> path;
  for (std::size_t at = inside; std::find(path.begin(), path.end(), at) == path.end(); at = waits_for.at(at)) path.push_back(at);
  const auto start = std::find(path.begin(), path.end(), waits_for.at(path.back()));
  const auto told = [&](std::size_t vertex) {
    for (std::size_t task = 0; task < graph_.tasks().size(); ++task)
      if (vertex_of(task) == vertex) return name_of(graph_, graph_.tasks()[task]);
    return std::string("nothing");
  };
  std::string text = told(*start);
  for (auto step = std::next(start); step != path.end(); ++step) text += " waits for " + told(*step) + ", which";
  return text + " waits for " + told(*start);
}

void TaskOrder::pass_on(TaskId from, TaskId to) {
  const Task& task = graph_.task(from);
  if (task.device != graph_.task(to).device) return;
  const auto& known = ended_[from.position()];
  auto& ended = ended_[to.position()];
  for (std::size_t stream = 0; stream < kNumStreams; ++stream) ended[stream] = std::max(ended[stream], known[stream]);
  std::int32_t& own = sim::at(ended, task.stream);
  own = std::max(own, place_[from.position()]);
}

void TaskOrder::set_clocks(const std::vector<std::size_t>& sorted) {
  std::vector<std::vector<std::size_t>> members(graph_.rendezvous_sizes().size());
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task)
    if (graph_.tasks()[task].rendezvous >= 0) sim::at(members, graph_.tasks()[task].rendezvous).push_back(task);
  const auto pass_all = [&](std::size_t task) {
    const TaskId id(static_cast<std::int32_t>(task));
    if (next_in_stream_[task] >= 0) pass_on(id, TaskId(next_in_stream_[task]));
    const auto [begin, end] = boost::adjacent_vertices(task, graph_.edges());
    for (auto next = begin; next != end; ++next) pass_on(id, TaskId(static_cast<std::int32_t>(*next)));
  };
  const std::size_t num_tasks = graph_.tasks().size();
  for (const std::size_t vertex : sorted) {
    if (vertex < num_tasks)
      pass_all(vertex);
    else
      std::for_each(members[vertex - num_tasks].begin(), members[vertex - num_tasks].end(), pass_all);
  }
}

bool TaskOrder::is_before(TaskId first, TaskId second) const {
  const Task& task = graph_.task(first);
  if (place_[first.position()] == 0) {  // known by those alone that wait for it
    const auto [begin, end] = boost::adjacent_vertices(first.position(), graph_.edges());
    return std::any_of(begin, end, [&](std::size_t next) {
      const TaskId id(static_cast<std::int32_t>(next));
      return id == second || is_before(id, second);
    });
  }
  return task.device == graph_.task(second).device && sim::at(ended_[second.position()], task.stream) >= place_[first.position()];
}

}  // namespace sim
