#include "sim/engine/steady.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "sim/task_graph/repeat.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int32_t kFewestPlayed = 5, kMostPlayed = 40;
constexpr std::size_t kMostTasks = 8'000'000;

SimTime end_of(const EngineRun& run, std::size_t tasks, std::int32_t step) {
  SimTime end{};
  for (std::size_t at = count_of(step) * tasks; at < count_of(step + 1) * tasks; ++at) end = std::max(end, run.tasks[at].ended);
  return end;
}

std::vector<SimTime> begins_of(const EngineRun& run, std::size_t tasks) {
  std::vector<SimTime> begins(run.tasks.size() / tasks, SimTime::max());
  for (std::size_t at = 0; at < run.tasks.size(); ++at) begins[at / tasks] = std::min(begins[at / tasks], run.tasks[at].started);
  return begins;
}

// Nothing follows the last step, so its end is not that of others. In a cycle lies what is left of the one before: that must be equal, too.
void find_cycle(PlayedSteps& played, std::size_t tasks) {
  const auto last = static_cast<std::int32_t>(played.begins.size()) - 2;
  const auto are_equal = [&](std::int32_t one, std::int32_t other) {
    const SimTime apart = sim::at(played.begins, other) - sim::at(played.begins, one);
    const auto times = [&](std::int32_t step) { return played.run.tasks.begin() + static_cast<std::ptrdiff_t>(count_of(step) * tasks); };
    return std::equal(times(one), times(one) + static_cast<std::ptrdiff_t>(tasks), times(other),
                      [&](const TaskTimes& a, const TaskTimes& b) { return a.started + apart == b.started && a.ended + apart == b.ended; });
  };
  for (played.length = 1; 3 * played.length <= last + 1; ++played.length) {
    played.first = last - played.length;
    played.repeats = true;
    for (std::int32_t step = last; played.repeats && step > last - played.length; --step)
      played.repeats = are_equal(step - played.length, step) && are_equal(step - 2 * played.length, step);
    played.step_time = (played.until() - played.from()) / played.length;
    if (played.repeats) return;
  }
  played.first = last / 2;
  played.length = last - played.first;
  played.step_time = (end_of(played.run, tasks, last) - end_of(played.run, tasks, played.first)) / played.length;
}

// While something communicates and nothing computes: exposed. One task alone on its stream, so sums of lengths are unions.
struct TimeEdge {
  SimTime time{};
  int computing = 0, communicating = 0;
};

// Of all streams by time. Those of one mostly are already.
std::vector<TimeEdge> in_order(std::array<std::vector<TimeEdge>, kNumStreams> streams) {
  std::vector<TimeEdge> all, merged;
  for (std::vector<TimeEdge>& stream : streams) {
    if (!std::ranges::is_sorted(stream, {}, &TimeEdge::time)) std::ranges::sort(stream, {}, &TimeEdge::time);
    merged.clear();
    merged.reserve(all.size() + stream.size());
    std::ranges::merge(all, stream, std::back_inserter(merged), {}, &TimeEdge::time, &TimeEdge::time);
    all.swap(merged);
  }
  return all;
}

DeviceTimes times_within(const TaskGraph& graph, const EngineRun& run, DeviceId device, const PlayedSteps& window) {
  DeviceTimes sums;
  std::array<std::vector<TimeEdge>, kNumStreams> streams;
  for (const TaskId id : graph.issue_order(device)) {
    const TaskTimes& times = run.tasks[id.position()];
    const SimTime from = std::max(times.started, window.from()), until = std::min(times.ended, window.until());
    const Stream stream = graph.task(id).stream;
    if (is_of_host(stream) || from >= until) continue;
    const bool computes = stream == Stream::Compute;
    (computes ? sums.busy : sums.communication) += until - from;
    sim::at(streams, stream).push_back({from, computes ? 1 : 0, computes ? 0 : 1});
    sim::at(streams, stream).push_back({until, computes ? -1 : 0, computes ? 0 : -1});
  }
  int computing = 0, communicating = 0;
  SimTime since{};
  for (const TimeEdge& edge : in_order(std::move(streams))) {
    if (computing == 0 && communicating > 0) sums.exposed += edge.time - since;
    computing += edge.computing;
    communicating += edge.communicating;
    since = edge.time;
  }
  return sums;
}

PlayedSteps played(TaskGraph graph, const std::vector<PricedTask>& priced, LinkSharing links, StreamOrder order, MemoryTracker& memory) {
  const std::size_t steps = graph.tasks().size() / std::max<std::size_t>(1, priced.size());
  std::vector<PricedTask> all;
  all.reserve(graph.tasks().size());
  for (std::size_t at = 0; at < steps; ++at) all.insert(all.end(), priced.begin(), priced.end());
  EngineRun run = Engine(graph, std::move(all), std::move(links), order, memory).run();
  std::vector<SimTime> begins = begins_of(run, priced.size());
  const auto tasks = static_cast<std::int32_t>(priced.size());
  PlayedSteps result{.graph = std::move(graph), .run = std::move(run), .begins = std::move(begins), .tasks = tasks};
  find_cycle(result, priced.size());
  return result;
}

// What is still to be freed behind the meeting is alive when a step begins there: it is what the tasks there free, as steps leave nothing behind.
void hold_until_freed(const MetStep& met, const std::vector<PricedTask>& priced, MemoryTracker& memory) {
  for (std::size_t at = 0; at < met.front.size(); ++at) {
    const MemoryEffect& effect = *sim::at(priced, met.front[at]).memory;
    MemoryEffect held;
    for (const auto* changes : {&effect.at_start, &effect.at_end})
      for (MemoryChange change : *changes) held.at_start.push_back({.category = change.category, .amount = -change.amount});
    memory.start(met.graph.tasks()[at].device, held);
  }
}

PlayedSteps played_between_meetings(const TaskGraph& step, const std::vector<PricedTask>& priced, LinkSharing links, StreamOrder order,
                                    MemoryTracker& memory) {
  MetStep met = behind_meeting(step);
  std::vector<PricedTask> all;
  all.reserve(met.graph.tasks().size());
  for (const std::int32_t task : met.front) all.push_back(sim::at(priced, task));
  hold_until_freed(met, priced, memory);
  all.insert(all.end(), priced.begin(), priced.end());
  EngineRun run = Engine(met.graph, std::move(all), std::move(links), order, memory).run();
  const auto first = run.tasks.begin() + std::ssize(met.front);
  const SimTime from = std::min_element(first, run.tasks.end(), [](auto& a, auto& b) { return a.started < b.started; })->started;
  const SimTime period = first[meeting_of(step, DeviceId(0)).value()].ended;
  for (std::size_t at = 0; at < met.front.size();
       ++at) {  // what stands behind this step's meeting is done beside the next step, as that was
    TaskTimes& times = first[met.front[at]] = run.tasks[at];
    for (SimTime* one : {&times.headed, &times.started, &times.ended}) *one += period;
  }
  return {.graph = std::move(met.graph),
          .run = std::move(run),
          .begins = {from, from + period},
          .front = std::move(met.front),
          .tasks = static_cast<std::int32_t>(priced.size()),
          .repeats = true,
          .step_time = period};
}

// One step of the cycle, as if it began at zero.
EngineRun step_of(const PlayedSteps& played, std::size_t tasks) {
  EngineRun step;
  step.step_time = played.step_time;
  const auto first = played.run.tasks.begin() + static_cast<std::ptrdiff_t>(played.front.size() + count_of(played.first) * tasks);
  step.tasks.assign(first, first + static_cast<std::ptrdiff_t>(tasks));
  for (TaskTimes& times : step.tasks) {
    times.headed = std::max(times.headed, played.from()) - played.from();
    times.started -= played.from();
    times.ended -= played.from();
  }
  for (DeviceId device(0); device.position() < played.graph.devices().size(); ++device) {
    DeviceTimes times = times_within(played.graph, played.run, device, played);
    for (SimTime* one : {&times.busy, &times.communication, &times.exposed}) *one /= played.length;
    step.devices.push_back(times);
  }
  return step;
}

}  // namespace

PlayedSteps play_steps(const TaskGraph& graph, const std::vector<PricedTask>& priced, const LinkSharing& links, StreamOrder order,
                       MemoryTracker& memory) {
  if (steps_meet(graph)) return played_between_meetings(graph, priced, links, order, memory);
  const MemoryTracker before = memory;
  for (std::int32_t steps = kFewestPlayed;; steps *= 2) {
    memory = before;
    PlayedSteps all = played(repeated(graph, {steps}), priced, links, order, memory);
    const bool is_enough = steps == kMostPlayed || priced.size() * count_of(steps) * 2 > kMostTasks;
    if (all.repeats || is_enough) return all;
  }
}

PlayedStep play(const TaskGraph& graph, const std::vector<PricedTask>& priced, const LinkSharing& links, StreamOrder order,
                MemoryTracker& memory) {
  if (!graph.crosses_steps()) {
    EngineRun run = Engine(graph, priced, links, order, memory).run();
    const SimTime until = run.step_time;
    return {.run = std::move(run), .from = {}, .until = until};
  }
  const PlayedSteps all = play_steps(graph, priced, links, order, memory);
  return {.run = step_of(all, priced.size()),
          .from = all.from(),
          .until = sim::at(all.begins, all.first + 1),
          .cycle = all.repeats ? all.length : 0};
}

std::vector<MemorySample> samples_within(const std::vector<MemorySample>& samples, SimTime from, SimTime until) {
  std::vector<MemorySample> kept;
  for (auto first = samples.begin(); first != samples.end();) {
    const auto end = std::find_if(first, samples.end(), [&](const MemorySample& sample) { return sample.device != first->device; });
    const auto add = [&](MemorySample sample, SimTime time) {
      sample.time = time;
      kept.push_back(sample);
    };
    const auto behind = std::upper_bound(first, end, from, [](SimTime time, const MemorySample& sample) { return time < sample.time; });
    auto alive = behind == first ? first : std::prev(behind);
    add(*alive, SimTime(0));
    for (auto each = behind; each != end && each->time < until; alive = each++) add(*each, each->time - from);
    const auto at_end = alive != end && std::next(alive) != end && std::next(alive)->time == until ? std::next(alive) : alive;
    add(*at_end, until - from);
    first = end;
  }
  return kept;
}

}  // namespace sim
