#include "sim/engine/engine.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace sim {

Engine::Engine(const TaskGraph& graph, std::vector<PricedTask> priced, LinkSharing links, StreamOrder order, MemoryTracker& memory)
    : graph_(graph),
      priced_(std::move(priced)),
      order_(order),
      memory_(memory),
      links_(std::move(links)),
      host_(graph, [this](std::size_t task) -> const TaskCost& { return *priced_[task].cost; }),
      under_way_(graph.devices().size()),
      states_(graph.devices().size()) {
  const std::size_t num_tasks = graph.tasks().size();
  run_.tasks.resize(num_tasks);
  run_.devices.resize(graph.devices().size());
  missing_.assign(num_tasks, 0);
  next_in_stream_.assign(num_tasks, -1);
  scheduled_.assign(num_tasks + graph.rendezvous_sizes().size(), 0);
  queue_streams();
  count_predecessors();
  collect_meetings();
}

void Engine::queue_streams() {
  for (std::size_t device = 0; device < graph_.devices().size(); ++device) {
    std::array<std::int32_t, kNumStreams> last;
    last.fill(-1);
    for (const TaskId id : graph_.issue_order(DeviceId(static_cast<std::int32_t>(device)))) {
      if (has_priority(id.value())) continue;
      const auto stream = static_cast<std::size_t>(queue_of(order_, graph_.task(id).stream));
      const std::int32_t before = std::exchange(last[stream], id.value());
      ++missing_[id.position()];
      if (before >= 0)
        sim::at(next_in_stream_, before) = id.value();
      else
        first_in_stream_.push_back(id.value());
    }
  }
}

void Engine::count_predecessors() {
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task) {
    const auto [begin, end] = boost::adjacent_vertices(task, graph_.edges());
    for (auto next = begin; next != end; ++next) ++missing_[*next];
  }
}

void Engine::collect_meetings() {
  meetings_.resize(graph_.rendezvous_sizes().size());
  missing_members_.assign(graph_.rendezvous_sizes().begin(), graph_.rendezvous_sizes().end());
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task) {
    const std::int32_t meeting = graph_.tasks()[task].rendezvous;
    if (meeting >= 0) sim::at(meetings_, meeting).push_back(static_cast<std::int32_t>(task));
  }
}

EngineRun Engine::run() && {
  for (const std::int32_t task : first_in_stream_) head(task);
  for (;;) {
    start_ready();
    settle();
    skip_moved_events();
    if (events_.empty()) break;
    now_ = events_.next().time;
    while (!events_.empty() && events_.next().time == now_) {
      const Event event = events_.pop();
      if (event.activity >= num_activities())
        ready_.push_back(event.activity - num_activities());
      else if (is_valid(event))
        end_activity(event.activity);
    }
  }
  run_.step_time = now_;
  if (std::any_of(missing_.begin(), missing_.end(), [](std::int32_t missing) { return missing > 0; })) abort_stuck();
  if (std::any_of(missing_members_.begin(), missing_members_.end(), [](std::int32_t missing) { return missing > 0; })) abort_stuck();
  return std::move(run_);
}

bool Engine::is_valid(const Event& event) const {
  return event.activity >= num_activities() || sim::at(scheduled_, event.activity) == event.sequence;
}

// An end that moved leaves its old event behind; the clock must not stop there.
void Engine::skip_moved_events() {
  while (!events_.empty() && !is_valid(events_.next())) events_.pop();
}

void Engine::head(std::int32_t task) {
  sim::at(run_.tasks, task).headed = now_;
  release(task);
}

void Engine::release(std::int32_t task) {
  if (--sim::at(missing_, task) > 0) return;
  const std::int32_t meeting = sim::at(graph_.tasks(), task).rendezvous;
  if (meeting < 0)
    enter(task);
  else if (--sim::at(missing_members_, meeting) == 0)
    enter(static_cast<std::int32_t>(graph_.tasks().size()) + meeting);
}

// Of the last member, where several meet.
SimTime Engine::issued(std::int32_t activity) const {
  const auto of = [&](std::int32_t task) { return host_.issued(task, sim::at(graph_.tasks(), task).device); };
  const auto num_tasks = static_cast<std::int32_t>(graph_.tasks().size());
  if (activity < num_tasks) return of(activity);
  SimTime last{};
  for (const std::int32_t member : sim::at(meetings_, activity - num_tasks)) last = std::max(last, of(member));
  return last;
}

void Engine::enter(std::int32_t activity) {
  const SimTime issued_at = host_.is_idle() ? SimTime(0) : issued(activity);
  if (issued_at <= now_) return ready_.push_back(activity);
  const auto num_tasks = static_cast<std::int32_t>(graph_.tasks().size());
  if (activity < num_tasks)
    sim::at(run_.tasks, activity).held_by_host = true;
  else
    for (const std::int32_t member : sim::at(meetings_, activity - num_tasks))
      sim::at(run_.tasks, member).held_by_host = host_.issued(member, sim::at(graph_.tasks(), member).device) == issued_at;
  events_.schedule(issued_at, num_activities() + activity);
}

// After all ends of the instant: what the ended tasks freed is free.
void Engine::start_ready() {
  for (const std::int32_t activity : ready_) {
    const std::int32_t task = members(activity).front();
    if (has_priority(task))
      waiting_.emplace(sim::at(graph_.tasks(), task).priority, activity);
    else
      start(activity);
  }
  ready_.clear();
  start_by_priority();
}

void Engine::start(std::int32_t activity) {
  const auto num_tasks = static_cast<std::int32_t>(graph_.tasks().size());
  activity < num_tasks ? start_alone(activity) : start_meeting(activity - num_tasks);
}

// The task itself, or those that meet.
std::span<const std::int32_t> Engine::members(const std::int32_t& activity) const {
  const auto num_tasks = static_cast<std::int32_t>(graph_.tasks().size());
  return activity < num_tasks ? std::span(&activity, 1) : std::span<const std::int32_t>(sim::at(meetings_, activity - num_tasks));
}

// A part is sent while there is credit, however large it is (ByteScheduler). Who has none holds up those behind it.
void Engine::start_by_priority() {
  const auto under_way = [&](std::int32_t task) -> Bytes& { return under_way_[sim::at(graph_.tasks(), task).device.position()]; };
  while (!waiting_.empty()) {
    const std::int32_t activity = waiting_.begin()->second;
    const auto tasks = members(activity);
    if (std::ranges::any_of(tasks, [&](std::int32_t task) { return under_way(task) >= graph_.credit(); })) return;
    waiting_.erase(waiting_.begin());
    for (const std::int32_t task : tasks) under_way(task) += sim::at(graph_.tasks(), task).payload;
    start(activity);
  }
}

void Engine::start_alone(std::int32_t task) {
  const TaskCost& cost = *sim::at(priced_, task).cost;
  begin(task);
  require_time(task, cost.duration);
  if (cost.num_uses == 0)
    schedule(task, now_ + cost.duration);
  else
    links_.start(task, now_, cost.duration, {cost.uses.data(), cost.num_uses});
}

// Who has to wait for a slower member takes as much of its links, over a longer time.
void Engine::take_links(const TaskCost& cost, SimTime duration) {
  const double stretch = cost.duration == duration ? 1.0 : to_seconds(cost.duration) / to_seconds(duration);
  for (std::size_t at = 0; at < cost.num_uses; ++at)
    uses_.push_back({cost.uses[at].link, stretch == 1.0 ? cost.uses[at].share : quantized_share(cost.uses[at].share * stretch)});
}

void Engine::start_meeting(std::int32_t meeting) {
  SimTime duration{};
  uses_.clear();
  for (const std::int32_t task : sim::at(meetings_, meeting)) {
    const TaskCost& cost = *sim::at(priced_, task).cost;
    begin(task);
    duration = std::max(duration, cost.duration);
  }
  for (const std::int32_t task : sim::at(meetings_, meeting)) take_links(*sim::at(priced_, task).cost, duration);
  require_time(sim::at(meetings_, meeting).front(), duration);
  const std::int32_t activity = static_cast<std::int32_t>(graph_.tasks().size()) + meeting;
  if (uses_.empty())
    schedule(activity, now_ + duration);
  else
    links_.start(activity, now_, duration, uses_);
}

// Shared links may stretch a transfer by their number of users: a hundredth of the clock is left for that.
void Engine::require_time(std::int32_t task, SimTime duration) const {
  constexpr SimTime kEnd = SimTime::max() / 100 * 99;
  if (now_ <= kEnd && duration <= kEnd - now_) return;
  throw InputError("the simulated step",
                   {{"", "takes longer than the clock holds (106 days), at task " + to_text(sim::at(graph_.tasks(), task).key),
                     "check the rates and latencies of the hardware profile, or take more devices"}});
}

void Engine::schedule(std::int32_t activity, SimTime time) { sim::at(scheduled_, activity) = events_.schedule(time, activity); }

void Engine::settle() {
  if (links_.needs_settling())
    for (const LinkSharing::NewEnd& end : links_.settle(now_)) schedule(end.id, end.time);
  memory_.settle(now_);
}

void Engine::begin(std::int32_t task) {
  sim::at(run_.tasks, task).started = now_;
  account(task, Edge::Begin);
  memory_.start(sim::at(graph_.tasks(), task).device, *sim::at(priced_, task).memory);
}

void Engine::end_activity(std::int32_t activity) {
  const auto num_tasks = static_cast<std::int32_t>(graph_.tasks().size());
  const bool is_meeting = activity >= num_tasks;
  const auto has_uses = [&](std::int32_t task) { return sim::at(priced_, task).cost->num_uses > 0; };
  if (!is_meeting) {
    if (has_uses(activity)) links_.finish(activity);
    end(activity);
    return;
  }
  const std::vector<std::int32_t>& members = sim::at(meetings_, activity - num_tasks);
  if (std::any_of(members.begin(), members.end(), has_uses)) links_.finish(activity);
  for (const std::int32_t task : members) end(task);
}

void Engine::end(std::int32_t task) {
  const auto at = static_cast<std::size_t>(task);
  TaskTimes& times = run_.tasks[at];
  times.ended = now_;
  account(task, Edge::End);
  const Task& ended = graph_.tasks()[at];
  DeviceTimes& device = run_.devices[ended.device.position()];
  if (!is_of_host(ended.stream)) (ended.stream == Stream::Compute ? device.busy : device.communication) += times.ended - times.started;
  if (has_priority(task)) under_way_[ended.device.position()] -= ended.payload;
  memory_.end(ended.device, *priced_[at].memory);
  if (priced_[at].cost->drains && !host_.is_idle()) host_.waited(task, ended.device, priced_[at].cost->issue, now_);
  if (!priced_[at].memory->on_sender.empty()) memory_.arrived(ended.peer, *priced_[at].memory);
  const auto [begin, last] = boost::adjacent_vertices(at, graph_.edges());
  for (auto next = begin; next != last; ++next) release(static_cast<std::int32_t>(*next));
  if (next_in_stream_[at] >= 0) head(next_in_stream_[at]);
}

// Exposed communication: integrates over the time in which a device communicates and does not compute.
void Engine::account(std::int32_t task, Edge edge) {
  const Task& changed = sim::at(graph_.tasks(), task);
  if (is_of_host(changed.stream)) return;
  DeviceState& state = states_[changed.device.position()];
  if (state.computing == 0 && state.communicating > 0) run_.devices[changed.device.position()].exposed += now_ - state.since;
  state.since = now_;
  (changed.stream == Stream::Compute ? state.computing : state.communicating) += edge == Edge::Begin ? 1 : -1;
}

void Engine::abort_stuck() const {
  for (std::size_t task = 0; task < missing_.size(); ++task) {
    if (run_.tasks[task].ended > SimTime(0) || (missing_[task] == 0 && graph_.tasks()[task].rendezvous < 0)) continue;
    std::fprintf(stderr, "sim/engine: the graph cannot end: %s waits for %d others\n", to_text(graph_.tasks()[task].key).c_str(),
                 missing_[task]);
    break;
  }
  std::abort();
}

}  // namespace sim
