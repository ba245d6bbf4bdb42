#include "sim/engine/step_path.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "sim/engine/engine.h"

namespace sim {
namespace {

constexpr std::int32_t kNothing = -1;

class PathFinder {
 public:
  PathFinder(const TaskGraph& graph, const EngineRun& run, StreamOrder order)
      : graph_(graph), run_(run), before_(run.tasks.size(), kNothing) {
    follow_edges();
    follow_streams(order);
    collect_meetings();
  }
  // From the task that ends last, backwards.
  template <typename Visit>
  void walk(Visit visit) const;

 private:
  void note(std::size_t from, std::size_t to) {
    if (run_.tasks[from].ended == run_.tasks[to].started) before_[to] = static_cast<std::int32_t>(from);
  }
  void follow_edges();
  void follow_streams(StreamOrder order);
  void collect_meetings();
  std::span<const std::int32_t> members(const std::int32_t& task) const;

  const TaskGraph& graph_;
  const EngineRun& run_;
  std::vector<std::int32_t> before_;  // by task: one that ended when it started, and that it had waited for
  std::vector<std::vector<std::int32_t>> meetings_;
};

void PathFinder::follow_edges() {
  for (std::size_t from = 0; from < run_.tasks.size(); ++from) {
    const auto [begin, end] = boost::adjacent_vertices(from, graph_.edges());
    for (auto to = begin; to != end; ++to) note(from, *to);
  }
}

void PathFinder::follow_streams(StreamOrder order) {
  for (DeviceId device(0); device.position() < graph_.devices().size(); ++device) {
    std::array<std::int32_t, kNumStreams> last;
    last.fill(kNothing);
    for (const TaskId task : graph_.issue_order(device)) {
      std::int32_t& before = last[static_cast<std::size_t>(queue_of(order, graph_.task(task).stream))];
      if (before != kNothing) note(static_cast<std::size_t>(before), task.position());
      before = task.value();
    }
  }
}

void PathFinder::collect_meetings() {
  meetings_.resize(graph_.rendezvous_sizes().size());
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task)
    if (const std::int32_t meeting = graph_.tasks()[task].rendezvous; meeting >= 0)
      meetings_[static_cast<std::size_t>(meeting)].push_back(static_cast<std::int32_t>(task));
}

// Of the rendezvous that the task belongs to; itself, if it belongs to none.
std::span<const std::int32_t> PathFinder::members(const std::int32_t& task) const {
  const std::int32_t meeting = graph_.tasks()[static_cast<std::size_t>(task)].rendezvous;
  return meeting < 0 ? std::span(&task, 1) : std::span(meetings_[static_cast<std::size_t>(meeting)]);
}

template <typename Visit>
void PathFinder::walk(Visit visit) const {
  const auto last = std::max_element(run_.tasks.begin(), run_.tasks.end(), [](const auto& a, const auto& b) { return a.ended < b.ended; });
  for (std::int32_t task = last == run_.tasks.end() ? kNothing : static_cast<std::int32_t>(last - run_.tasks.begin()); task != kNothing;) {
    std::int32_t next = kNothing;
    for (const std::int32_t member : members(task)) next = std::max(next, before_[static_cast<std::size_t>(member)]);
    visit(members(task));
    task = next;
  }
}

EngineRun played(const TaskGraph& graph, const CostModel& costs, StreamOrder order) {
  const MemoryEffect none;
  std::vector<PricedTask> priced;
  priced.reserve(graph.tasks().size());
  for (const Task& task : graph.tasks()) priced.push_back({&costs.cost(task, graph), &none});
  MemoryTracker memory(std::vector<MemoryBreakdown>(graph.devices().size()), MemoryTracker::Keep::Peak);
  return Engine(graph, std::move(priced), LinkSharing({costs.num_links()}), order, memory).run();
}

// Up to the slowdown itself that is what stretched it.
void count(PathPrice& price, double stretch, const SoftwareStack& software) {
  const double beyond = stretch - 1, slowdown = software.overlap_slowdown;
  const bool is_slowed = beyond > 0 && beyond <= slowdown * (1 + 1e-6);
  price.times += is_slowed ? 1 : stretch;
  price.beside += is_slowed ? beyond / slowdown : 0;
}

}  // namespace

StepPath simulated_path(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph) {
  const CostModel costs(model, plan);
  const EngineRun run = played(graph, costs, stream_order(plan));
  StepPath path{.step_time = run.step_time, .prices = {}};
  std::map<const TaskCost*, std::size_t> known;  // looked up by address, never walked through
  PathFinder(graph, run, stream_order(plan)).walk([&](std::span<const std::int32_t> members) {
    const auto cost_of = [&](std::int32_t task) { return &costs.cost(graph.tasks()[static_cast<std::size_t>(task)], graph); };
    const std::int32_t longest = *std::max_element(
        members.begin(), members.end(), [&](std::int32_t a, std::int32_t b) { return cost_of(a)->duration < cost_of(b)->duration; });
    const TaskCost* cost = cost_of(longest);
    if (cost->duration.count() <= 0) return;
    const auto [entry, is_new] = known.try_emplace(cost, path.prices.size());
    if (is_new) path.prices.push_back({.task = TaskId(longest)});
    const TaskTimes& times = run.tasks[static_cast<std::size_t>(longest)];
    count(path.prices[entry->second], to_seconds(times.ended - times.started) / to_seconds(cost->duration), plan.cluster.software);
  });
  return path;
}

Seconds time_along(const StepPath& path, const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph) {
  const CostModel costs(model, plan);
  Seconds sum{};
  for (const PathPrice& price : path.prices)
    sum += (price.times + price.beside * plan.cluster.software.overlap_slowdown) *
           to_seconds(costs.cost(graph.task(price.task), graph).duration);
  return sum;
}

}  // namespace sim
