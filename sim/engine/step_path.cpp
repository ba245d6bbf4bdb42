#include "sim/engine/step_path.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "sim/engine/engine.h"
#include "sim/engine/steady.h"
#include "sim/units/at.h"

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
  // From the task that ends last, backwards. `issued`: what the host issued from the task that it had waited for to the one that waited for the host.
  template <typename Visit, typename Issued, typename CostOf>
  void walk(Visit visit, Issued issued, CostOf cost) const;

 private:
  void note(std::size_t from, std::size_t to) {
    if (run_.tasks[from].ended == run_.tasks[to].started) before_[to] = static_cast<std::int32_t>(from);
  }
  void follow_edges();
  void follow_streams(StreamOrder order);
  void follow_credit(DeviceId device, StreamOrder order);
  void collect_meetings();
  std::span<const std::int32_t> members(const std::int32_t& task) const;
  template <typename Issued, typename CostOf>
  std::int32_t follow_host(std::int32_t held, Issued issued, CostOf cost) const;

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
    follow_credit(device, order);
    for (const TaskId task : graph_.issue_order(device)) {
      if (has_priority(graph_.task(task), order)) continue;
      std::int32_t& before = sim::at(last, queue_of(order, graph_.task(task).stream));
      if (before != kNothing) note(static_cast<std::size_t>(before), task.position());
      before = task.value();
    }
  }
}

// A part that waited for credit, or for one with a lower priority.
void PathFinder::follow_credit(DeviceId device, StreamOrder order) {
  std::map<SimTime, std::size_t> ended;
  const auto each = [&](auto see) {
    for (const TaskId task : graph_.issue_order(device))
      if (has_priority(graph_.task(task), order)) see(task.position());
  };
  each([&](std::size_t task) { ended.emplace(run_.tasks[task].ended, task); });
  each([&](std::size_t task) {
    const auto before = ended.find(run_.tasks[task].started);
    if (before != ended.end() && before->second != task && before_[task] == kNothing) note(before->second, task);
  });
}

void PathFinder::collect_meetings() {
  meetings_.resize(graph_.rendezvous_sizes().size());
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task)
    if (const std::int32_t meeting = graph_.tasks()[task].rendezvous; meeting >= 0)
      sim::at(meetings_, meeting).push_back(static_cast<std::int32_t>(task));
}

// Of the rendezvous that the task belongs to; itself, if it belongs to none.
std::span<const std::int32_t> PathFinder::members(const std::int32_t& task) const {
  const std::int32_t meeting = sim::at(graph_.tasks(), task).rendezvous;
  return meeting < 0 ? std::span(&task, 1) : std::span(sim::at(meetings_, meeting));
}

// The wait of the host that made it latest, or the start of the step.
template <typename Issued, typename CostOf>
std::int32_t PathFinder::follow_host(std::int32_t held, Issued issued, CostOf cost) const {
  const auto order = graph_.issue_order(sim::at(graph_.tasks(), held).device);
  std::int32_t waited = kNothing;
  SimTime offset{}, lead{};
  for (const TaskId task : order) {
    if (task.value() == held) break;
    const SimTime behind = run_.tasks[task.position()].ended - offset - cost(task.value())->issue;
    if (cost(task.value())->drains && behind > lead && run_.tasks[task.position()].ended <= sim::at(run_.tasks, held).started) {
      waited = task.value();
      lead = behind;
    }
    offset += cost(task.value())->issue;
  }
  bool is_behind = waited == kNothing;
  for (const TaskId task : order) {
    if (task.value() == held) break;
    if (is_behind) issued(task.value());
    is_behind = is_behind || task.value() == waited;
  }
  return waited;
}

template <typename Visit, typename Issued, typename CostOf>
void PathFinder::walk(Visit visit, Issued issued, CostOf cost) const {
  const auto last = std::max_element(run_.tasks.begin(), run_.tasks.end(), [](const auto& a, const auto& b) { return a.ended < b.ended; });
  for (std::int32_t task = last == run_.tasks.end() ? kNothing : static_cast<std::int32_t>(last - run_.tasks.begin()); task != kNothing;) {
    visit(members(task));
    const auto all = members(task);
    const auto held = std::ranges::find_if(all, [&](std::int32_t member) { return sim::at(run_.tasks, member).held_by_host; });
    std::int32_t next = kNothing;
    if (held != all.end()) {
      next = follow_host(*held, issued, cost);
    } else {
      for (const std::int32_t member : all) next = std::max(next, sim::at(before_, member));
    }
    task = next;
  }
}

PlayedSteps played(const TaskGraph& graph, const CostModel& costs, StreamOrder order) {
  const MemoryEffect none;
  std::vector<PricedTask> priced;
  priced.reserve(graph.tasks().size());
  for (const Task& task : graph.tasks()) priced.push_back({&costs.cost(task, graph), &none});
  MemoryTracker memory(std::vector<MemoryBreakdown>(graph.devices().size()), MemoryTracker::Keep::Peak);
  const LinkSharing links({costs.num_links()});
  if (graph.crosses_steps()) return play_steps(graph, priced, links, order, memory);
  EngineRun run = Engine(graph, std::move(priced), links, order, memory).run();
  const SimTime time = run.step_time;
  return {.graph = graph,
          .run = std::move(run),
          .begins = {SimTime(0), time},
          .tasks = static_cast<std::int32_t>(graph.tasks().size()),
          .step_time = time};
}

// Up to the slowdown itself that is what stretched it.
struct Visited {
  double stretch = 1, share = 1;  // of its time alone; of that time, what counts
};
void count(PathPrice& price, const Visited& task, const ParallelPlan& plan) {
  const auto [stretch, share] = task;
  const double beyond = stretch - 1, slowdown = plan.cluster.software.overlap_slowdown;
  const bool is_slowed = beyond > 0 && beyond <= slowdown * (1 + 1e-6);
  price.times += share * (is_slowed ? 1 : stretch);
  price.beside += share * (is_slowed ? beyond / slowdown : 0);
}

// Of a task's time, what lies in the window.
double share_within(const TaskTimes& times, const PlayedSteps& window) {
  const SimTime inside = std::min(times.ended, window.until()) - std::max(times.started, window.from());
  return inside.count() <= 0 ? 0 : to_seconds(inside) / to_seconds(times.ended - times.started);
}

}  // namespace

StepPath simulated_path(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph) {
  const CostModel costs(model, plan);
  const PlayedSteps steps = played(graph, costs, stream_order(plan));
  const double each = 1.0 / steps.length;
  StepPath path{.step_time = steps.step_time, .prices = {}};
  std::map<const TaskCost*, std::size_t> known;  // looked up by address, never walked through
  const auto cost_of = [&](std::int32_t task) { return &costs.cost(sim::at(steps.graph.tasks(), task), graph); };
  const auto price_of = [&](std::int32_t task) -> PathPrice& {
    const auto [entry, is_new] = known.try_emplace(cost_of(task), path.prices.size());
    if (is_new) path.prices.push_back({.task = TaskId(steps.in_step(task))});
    return path.prices[entry->second];
  };
  const auto visit = [&](std::span<const std::int32_t> members) {
    const std::int32_t longest = *std::max_element(
        members.begin(), members.end(), [&](std::int32_t a, std::int32_t b) { return cost_of(a)->duration < cost_of(b)->duration; });
    const TaskCost* cost = cost_of(longest);
    const TaskTimes& times = sim::at(steps.run.tasks, longest);
    const double share = cost->duration.count() <= 0 ? 0 : share_within(times, steps) * each;
    if (share > 0) count(price_of(longest), {to_seconds(times.ended - times.started) / to_seconds(cost->duration), share}, plan);
  };
  const auto issued = [&](std::int32_t task) {
    const TaskTimes& times = sim::at(steps.run.tasks, task);
    const bool is_inside = times.started >= steps.from() && times.started < steps.until();
    if (cost_of(task)->issue.count() > 0 && is_inside) price_of(task).issued += each;
  };
  PathFinder(steps.graph, steps.run, stream_order(plan)).walk(visit, issued, cost_of);
  return path;
}

Seconds time_along(const StepPath& path, const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph) {
  const CostModel costs(model, plan);
  Seconds sum{};
  for (const PathPrice& price : path.prices) {
    const TaskCost& cost = costs.cost(graph.task(price.task), graph);
    sum += (price.times + price.beside * plan.cluster.software.overlap_slowdown) * to_seconds(cost.duration) +
           price.issued * to_seconds(cost.issue);
  }
  return sum;
}

}  // namespace sim
