// check_timeline of checkers.h.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/check/checkers.h"
#include "sim/check/findings.h"

namespace sim {
namespace {

class TimelineWatch {
 public:
  TimelineWatch(const TaskGraph& graph, const Timeline& timeline, SimTime period)
      : graph_(graph), timeline_(timeline), period_(period), span_of_(graph.tasks().size(), nullptr) {}

  std::vector<std::string> watch() && {
    if (timeline_.devices.size() != graph_.devices().size()) {
      findings_.add(fmt::format("{} devices instead of {}", timeline_.devices.size(), graph_.devices().size()));
      return std::move(findings_).take();
    }
    match_spans();
    if (findings_.none()) {
      find_serial_devices();
      watch_streams();
      watch_edges();
      watch_edges_between_steps();
      watch_meetings();
    }
    watch_memory();
    return std::move(findings_).take();
  }

 private:
  void tell(std::size_t task, const std::string& what) { findings_.add(fmt::format("{} {}", name_of(graph_, graph_.tasks()[task]), what)); }
  void match_spans();
  void find_serial_devices();
  void watch_streams();
  void watch_edges();
  void watch_edges_between_steps();
  void watch_meetings();
  void watch_memory();
  // A blocking communication holds its device from where it is issued: its span begins there, and only its end tells when it happened.
  bool may_begin_waiting(std::size_t task) const {
    return is_serial_[graph_.tasks()[task].device.position()] && is_communication(graph_.tasks()[task].key.operation);
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  SimTime period_;
  std::vector<const Span*> span_of_;  // by task
  std::vector<bool> is_serial_;       // by device: nothing ever overlaps
  Findings findings_;
};

void TimelineWatch::match_spans() {
  std::map<std::tuple<DeviceId, TaskKey>, std::size_t> tasks;
  for (std::size_t at = 0; at < graph_.tasks().size(); ++at)
    tasks.emplace(std::tuple(graph_.tasks()[at].device, graph_.tasks()[at].key), at);
  for (const Span& span : timeline_.spans) {
    const auto found = tasks.find({span.device, span.key});
    if (found == tasks.end()) {
      findings_.add(fmt::format("{} on device {} is no task of the graph", to_text(span.key), span.device.value()));
      continue;
    }
    const std::size_t task = found->second;
    if (span_of_[task] != nullptr) tell(task, "is there twice");
    if (span.stream != graph_.tasks()[task].stream) tell(task, "runs on another stream");
    if (span.start < SimTime(0) || span.end < span.start) tell(task, "ends before it starts, or starts before the step");
    span_of_[task] = &span;
  }
  for (std::size_t task = 0; task < span_of_.size(); ++task)
    if (span_of_[task] == nullptr) tell(task, "never runs");
}

void TimelineWatch::find_serial_devices() {
  is_serial_.assign(graph_.devices().size(), true);
  for (DeviceId device(0); device.position() < graph_.devices().size(); ++device) {
    SimTime end{};
    for (const TaskId id : graph_.issue_order(device)) {
      if (span_of_[id.position()]->start < end) is_serial_[device.position()] = false;
      end = std::max(end, span_of_[id.position()]->end);
    }
  }
}

void TimelineWatch::watch_streams() {
  for (DeviceId device(0); device.position() < graph_.devices().size(); ++device) {
    std::map<Stream, std::size_t> last;
    for (const TaskId id : graph_.issue_order(device)) {
      if (graph_.task(id).priority >= 0 && !is_serial_[device.position()]) continue;  // as it gets ready, several at a time
      const auto [before, is_first] = last.try_emplace(graph_.task(id).stream, id.position());
      if (!is_first && span_of_[id.position()]->start < span_of_[before->second]->end)
        tell(id.position(), "starts before " + to_text(graph_.tasks()[before->second].key) + " has left its stream");
      before->second = id.position();
    }
  }
}

void TimelineWatch::watch_edges() {
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task) {
    const auto [begin, end] = boost::adjacent_vertices(task, graph_.edges());
    for (auto next = begin; next != end; ++next) {
      const SimTime happened = may_begin_waiting(*next) ? span_of_[*next]->end : span_of_[*next]->start;
      if (happened < span_of_[task]->end) tell(*next, "does not wait for " + name_of(graph_, graph_.tasks()[task]));
    }
  }
}

// The next step is the same, later by a step's time.
void TimelineWatch::watch_edges_between_steps() {
  if (period_ <= SimTime(0)) return;
  for (const auto& [before, after] : graph_.edges_between_steps()) {
    const Span& next = *span_of_[after.position()];
    const SimTime happened = (may_begin_waiting(after.position()) ? next.end : next.start) + period_;
    if (happened < span_of_[before.position()]->end)
      tell(after.position(), "does not wait for " + name_of(graph_, graph_.task(before)) + " of the step before");
  }
}

void TimelineWatch::watch_meetings() {
  std::map<std::int32_t, std::vector<std::size_t>> meetings;
  for (std::size_t task = 0; task < graph_.tasks().size(); ++task)
    if (graph_.tasks()[task].rendezvous >= 0) meetings[graph_.tasks()[task].rendezvous].push_back(task);
  for (const auto& [place, members] : meetings)
    for (const std::size_t member : members) {
      const Span &mine = *span_of_[member], &first = *span_of_[members.front()];
      const bool waits = may_begin_waiting(member) || may_begin_waiting(members.front());
      if (mine.end != first.end || (!waits && mine.start != first.start) || mine.start > first.end)
        tell(member, "is not simultaneous with " + name_of(graph_, graph_.tasks()[members.front()]));
    }
}

// What lives between steps is what was alive at the lowest moment; the first sample may hold what the first task took.
void TimelineWatch::watch_memory() {
  struct Course {
    const MemorySample* first;
    const MemorySample* last;
    MemoryBreakdown lowest;
  };
  std::map<DeviceId, Course> courses;
  std::set<DeviceId> begin_at_once;  // a task that waits for no gather begins with the step, and took its share in the first sample
  for (const Span& span : timeline_.spans)
    if (span.start == SimTime(0) && span.key.phase == Phase::Forward && !is_communication(span.key.operation))
      begin_at_once.insert(span.device);
  for (const MemorySample& sample : timeline_.memory) {
    const auto [entry, is_first] = courses.try_emplace(sample.device, Course{&sample, &sample, sample.alive});
    Course& course = entry->second;
    if (!is_first && sample.time < course.last->time)
      findings_.add(fmt::format("memory of device {} goes back in time", sample.device.value()));
    course.last = &sample;
    for (std::size_t at = 0; at < kNumMemoryCategories; ++at) {
      course.lowest[at] = std::min(course.lowest[at], sample.alive[at]);
      if (sample.alive[at] < Bytes(0))
        findings_.add(fmt::format("device {} holds {} B of {} at {} ps", sample.device.value(), sample.alive[at].value(),
                                  kMemoryCategoryNames[at], sample.time.count()));
    }
  }
  for (const auto& [device, course] : courses)
    for (std::size_t at = 0; at < kNumMemoryCategories; ++at) {
      const auto category = static_cast<MemoryCategory>(at);
      const bool stays = category == MemoryCategory::Parameters || category == MemoryCategory::OptimizerState;
      const bool goes = category == MemoryCategory::GatheredUnits;
      if (graph_.crosses_steps() && period_ <= SimTime(0)) continue;  // steps that differ
      const bool took_its_share = graph_.crosses_steps() && category == MemoryCategory::Activations && begin_at_once.contains(device);
      if (took_its_share && course.last->alive[at] == course.lowest[at]) continue;
      const Bytes expected = graph_.crosses_steps() || stays ? course.first->alive[at] : goes ? Bytes(0) : course.lowest[at];
      if (course.last->alive[at] != expected)
        findings_.add(fmt::format("device {} ends with {} B of {} instead of {} B", device.value(), course.last->alive[at].value(),
                                  kMemoryCategoryNames[at], expected.value()));
    }
}

}  // namespace

std::vector<std::string> check_timeline(const TaskGraph& graph, const Timeline& timeline, SimTime period) {
  return TimelineWatch(graph, timeline, period).watch();
}

}  // namespace sim
