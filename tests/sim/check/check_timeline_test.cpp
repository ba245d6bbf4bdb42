// The rules on timelines, each shown able to fail. The right timeline is made by a tiny list scheduler, apart from the engine.
#include <gmock/gmock.h>

#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using ::testing::IsEmpty;
using testing::says;
using testing::tiny_plan;

// Each task takes 10 ps and starts as soon as its stream, its edges and its meeting allow.
Timeline scheduled(const TaskGraph& graph, bool in_order) {
  const auto tasks = graph.tasks();
  std::vector<SimTime> start(tasks.size(), SimTime(-1));
  const auto end_of = [&](std::size_t task) { return start[task] < SimTime(0) ? SimTime(-1) : start[task] + SimTime(10); };
  std::vector<std::vector<std::size_t>> needs(tasks.size());
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    const auto [begin, end] = boost::adjacent_vertices(at, graph.edges());
    for (auto next = begin; next != end; ++next) needs[*next].push_back(at);
  }
  for (DeviceId device(0); device.position() < graph.devices().size(); ++device) {
    std::map<Stream, std::size_t> last;
    for (const TaskId id : graph.issue_order(device)) {
      const Stream stream = in_order ? Stream::Compute : graph.task(id).stream;
      if (last.count(stream)) needs[id.position()].push_back(last[stream]);
      last[stream] = id.position();
    }
  }
  const auto ready = [&](std::size_t task) {
    SimTime at(0);
    for (const std::size_t need : needs[task]) at = end_of(need) < SimTime(0) || at < SimTime(0) ? SimTime(-1) : std::max(at, end_of(need));
    return at;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      if (start[task] >= SimTime(0)) continue;
      SimTime at = ready(task);
      for (std::size_t other = 0; other < tasks.size() && tasks[task].rendezvous >= 0 && at >= SimTime(0); ++other)
        if (tasks[other].rendezvous == tasks[task].rendezvous) at = ready(other) < SimTime(0) ? SimTime(-1) : std::max(at, ready(other));
      if (at < SimTime(0)) continue;
      moved = true;
      for (std::size_t other = 0; other < tasks.size(); ++other)
        if (other == task || (tasks[task].rendezvous >= 0 && tasks[other].rendezvous == tasks[task].rendezvous)) start[other] = at;
    }
  }
  Timeline timeline;
  timeline.devices.assign(graph.devices().begin(), graph.devices().end());
  for (std::size_t at = 0; at < tasks.size(); ++at)
    timeline.spans.push_back({tasks[at].device, tasks[at].stream, tasks[at].key, start[at], end_of(at)});
  MemoryBreakdown alive{};
  alive[0] = Bytes(100);
  timeline.memory = {{DeviceId(0), SimTime(0), alive}, {DeviceId(0), SimTime(5), alive}, {DeviceId(0), SimTime(90), alive}};
  timeline.memory[1].alive[static_cast<std::size_t>(MemoryCategory::Activations)] = Bytes(7);
  return timeline;
}

class CheckTimeline : public ::testing::Test {
 protected:
  CheckTimeline() : parts(tiny_plan({.data = 2, .pipeline = 2}), Fold::None), graph(parts.graph()), timeline(scheduled(graph, false)) {}
  Span& span(const std::string& key, std::size_t number = 0) { return timeline.spans[parts.find(key, number)]; }
  std::vector<std::string> findings() const { return check_timeline(graph, timeline); }

  GraphParts parts;
  TaskGraph graph;
  Timeline timeline;
};

TEST_F(CheckTimeline, AcceptsARightOne) {
  EXPECT_THAT(findings(), IsEmpty());
  timeline = scheduled(graph, true);
  EXPECT_THAT(findings(), IsEmpty());
}

// On a device that performs everything in order, a blocking communication begins where it is issued.
TEST_F(CheckTimeline, AcceptsWaitingInsideASpan) {
  timeline = scheduled(graph, true);
  for (DeviceId device(0); device.position() < graph.devices().size(); ++device) {
    SimTime end{};
    for (const TaskId id : graph.issue_order(device)) {
      if (is_communication(graph.task(id).key.operation)) timeline.spans[id.position()].start = end;
      end = timeline.spans[id.position()].end;
    }
  }
  EXPECT_THAT(findings(), IsEmpty());
  Span& receive = span("m0.l3.forward.receive");
  receive.end = receive.start;  // ends before its send has
  EXPECT_THAT(findings(), says("does not wait for"));
}

TEST_F(CheckTimeline, ATaskThatNeverRuns) {
  timeline.spans.pop_back();
  EXPECT_THAT(findings(), says("never runs"));
}

TEST_F(CheckTimeline, ATaskTwice) {
  timeline.spans.push_back(timeline.spans.front());
  EXPECT_THAT(findings(), says("is there twice"));
}

TEST_F(CheckTimeline, AnUnknownTask) {
  timeline.spans.front().key.layer = LayerIndex(77);
  EXPECT_THAT(findings(), says("is no task of the graph"));
}

TEST_F(CheckTimeline, AnotherStream) {
  timeline.spans.front().stream = Stream::Reduce;
  EXPECT_THAT(findings(), says("runs on another stream"));
}

TEST_F(CheckTimeline, TimeBackwards) {
  timeline.spans.front().end = SimTime(-1);
  EXPECT_THAT(findings(), says("ends before it starts"));
}

TEST_F(CheckTimeline, TwoTasksOfAStreamAtOnce) {
  span("m0.l1.forward.mlp").start -= SimTime(1);
  EXPECT_THAT(findings(), says("has left its stream"));
}

TEST_F(CheckTimeline, ADependencyNotKept) {
  span("m0.l2.forward.send").start -= SimTime(1);
  EXPECT_THAT(findings(), says("m0.l2.forward.send.pipeline.0 of rank 0 does not wait for s0.c0.m0.l2.forward.mlp.none.0 of rank 0"));
}

TEST_F(CheckTimeline, ACollectiveNotTogether) {
  span("step.all_reduce.world", 1).end += SimTime(1);
  EXPECT_THAT(findings(), says("is not simultaneous with"));
}

TEST_F(CheckTimeline, MemoryBelowZero) {
  timeline.memory[1].alive[2] = Bytes(-1);
  EXPECT_THAT(findings(), says("device 0 holds -1 B of optimizer_state at 5 ps"));
}

TEST_F(CheckTimeline, MemoryThatLeaks) {
  timeline.memory.pop_back();
  EXPECT_THAT(findings(), says("ends with 7 B of activations instead of 0 B"));
  timeline.memory.back().alive = timeline.memory.front().alive;
  EXPECT_THAT(findings(), IsEmpty());
  timeline.memory.back().alive[0] = Bytes(99);
  EXPECT_THAT(findings(), says("ends with 99 B of parameters instead of 100 B"));
}

TEST_F(CheckTimeline, MemoryBackInTime) {
  std::swap(timeline.memory[1].time, timeline.memory[2].time);
  EXPECT_THAT(findings(), says("goes back in time"));
}

TEST_F(CheckTimeline, OtherDevices) {
  timeline.devices.pop_back();
  EXPECT_THAT(findings(), says("3 devices instead of 4"));
}

}  // namespace
}  // namespace sim
