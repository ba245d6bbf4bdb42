#include "sim/engine/engine.h"

#include <gtest/gtest.h>

#include <deque>

#include "sim/task_graph/task_graph_builder.h"

namespace sim {
namespace {

// A graph by hand, with durations in picoseconds.
class Scene {
 public:
  explicit Scene(std::int32_t num_devices) {
    for (std::int32_t rank = 0; rank < num_devices; ++rank) builder_.add_device({.representative = Rank(rank), .stage = StageIndex(rank)});
  }

  struct Part {
    std::int32_t device = 0;
    Stream stream = Stream::Compute;
    std::int64_t duration = 0;
    double share = 0;            // of link 0
    std::int64_t temporary = 0;  // bytes
    std::int64_t issue = 0;      // of the host
    bool drains = false;
  };
  TaskId add(const Part& part) {
    TaskCost cost{.duration = SimTime(part.duration), .issue = SimTime(part.issue), .drains = part.drains};
    if (part.share > 0) cost.uses[cost.num_uses++] = {LinkId(0), part.share};
    costs_.push_back(cost);
    effects_.emplace_back();
    if (part.temporary > 0) effects_.back().temporary.push_back({MemoryCategory::Temporaries, Bytes(part.temporary)});
    const Operation operation = part.stream == Stream::Compute ? Operation::Mlp : Operation::AllReduce;
    return builder_.add_task({.key = {.operation = operation}, .device = DeviceId(part.device), .stream = part.stream});
  }
  TaskGraphBuilder& builder() { return builder_; }

  EngineRun run(StreamOrder order = StreamOrder::Overlapping) {
    const TaskGraph graph = std::move(builder_).freeze();
    std::vector<PricedTask> priced;
    for (std::size_t at = 0; at < costs_.size(); ++at) priced.push_back({&costs_[at], &effects_[at]});
    memory_.emplace(std::vector<MemoryBreakdown>(graph.devices().size()), MemoryTracker::Keep::Peak);
    return Engine(graph, std::move(priced), LinkSharing({1}), order, *memory_).run();
  }
  Bytes peak(std::int32_t device) const { return memory_->peak(DeviceId(device)).memory; }

 private:
  TaskGraphBuilder builder_;
  std::deque<TaskCost> costs_;
  std::deque<MemoryEffect> effects_;
  std::optional<MemoryTracker> memory_;
};

TaskTimes times(const EngineRun& run, TaskId id) { return run.tasks[id.position()]; }

TEST(Engine, AStreamRunsOneAfterTheOther) {
  Scene scene(1);
  const TaskId first = scene.add({.duration = 30}), second = scene.add({.duration = 12});
  const EngineRun run = scene.run();
  EXPECT_EQ(times(run, first).ended, SimTime(30));
  EXPECT_EQ(times(run, second).started, SimTime(30));
  EXPECT_EQ(run.step_time, SimTime(42));
  EXPECT_EQ(run.devices[0].busy, SimTime(42));
}

// The host is at 20, 40, 60 when it has issued them; the third waits for it, the second for the device.
TEST(Engine, TheHostRunsAheadOfTheDeviceUntilItIsTheSlowerOne) {
  Scene scene(1);
  const TaskId first = scene.add({.duration = 50, .issue = 20}), second = scene.add({.duration = 5, .issue = 50}),
               third = scene.add({.duration = 5, .issue = 10});
  const EngineRun run = scene.run();
  EXPECT_EQ(times(run, first).started, SimTime(0));
  EXPECT_EQ(times(run, second).started, SimTime(50)) << "issued at 20";
  EXPECT_EQ(times(run, third).started, SimTime(70));
  EXPECT_TRUE(times(run, third).held_by_host);
  EXPECT_FALSE(times(run, second).held_by_host);
}

TEST(Engine, AHostThatWaitsIsNoLongerAhead) {
  Scene scene(1);
  scene.add({.duration = 50, .issue = 10, .drains = true});
  const TaskId next = scene.add({.duration = 5, .issue = 30}), last = scene.add({.duration = 5});
  const EngineRun run = scene.run();
  EXPECT_EQ(times(run, next).started, SimTime(50));
  EXPECT_EQ(times(run, last).started, SimTime(80));
}

TEST(Engine, ARendezvousWaitsForTheSlowestHost) {
  Scene scene(2);
  const std::int32_t meeting = scene.builder().add_rendezvous();
  std::vector<TaskId> members;
  for (std::int32_t device = 0; device < 2; ++device) {
    scene.add({.device = device, .duration = 1, .issue = 10 + 30 * device});
    members.push_back(scene.add({.device = device, .stream = Stream::Reduce, .duration = 5}));
    scene.builder().join(members.back(), meeting);
  }
  const EngineRun run = scene.run();
  EXPECT_EQ(times(run, members[0]).started, SimTime(40));
  EXPECT_EQ(times(run, members[1]).started, SimTime(40));
}

TEST(Engine, StreamsOverlapUnlessTheDeviceIsInOrder) {
  for (const StreamOrder order : {StreamOrder::Overlapping, StreamOrder::InOrder}) {
    Scene scene(1);
    scene.add({.duration = 30});
    scene.add({.stream = Stream::Reduce, .duration = 20});
    const EngineRun run = scene.run(order);
    const bool in_order = order == StreamOrder::InOrder;
    EXPECT_EQ(run.step_time, SimTime(in_order ? 50 : 30));
    EXPECT_EQ(run.devices[0].communication, SimTime(20));
    EXPECT_EQ(run.devices[0].exposed, SimTime(in_order ? 20 : 0));
  }
}

TEST(Engine, ATaskWaitsForItsPredecessorsOnOtherDevices) {
  Scene scene(2);
  const TaskId far = scene.add({.device = 1, .duration = 50});
  const TaskId near = scene.add({.duration = 10});
  const TaskId both = scene.add({.duration = 5});
  scene.builder().add_edge(far, both);
  const EngineRun run = scene.run();
  EXPECT_EQ(times(run, near).ended, SimTime(10));
  EXPECT_EQ(times(run, both).headed, SimTime(10));
  EXPECT_EQ(times(run, both).started, SimTime(50));
  EXPECT_EQ(run.step_time, SimTime(55));
}

TEST(Engine, ARendezvousStartsWithTheLastAndEndsTogether) {
  Scene scene(3);
  const std::int32_t meeting = scene.builder().add_rendezvous();
  std::vector<TaskId> members;
  for (std::int32_t device = 0; device < 3; ++device) {
    scene.add({.device = device, .duration = 10 * (device + 1)});
    members.push_back(scene.add({.device = device, .stream = Stream::Reduce, .duration = 100 + device}));
    scene.builder().add_edge(TaskId(members.back().value() - 1), members.back());
    scene.builder().join(members.back(), meeting);
  }
  const EngineRun run = scene.run(StreamOrder::InOrder);
  for (std::int32_t device = 0; device < 3; ++device) {
    EXPECT_EQ(times(run, members[static_cast<std::size_t>(device)]).headed, SimTime(10 * (device + 1)));
    EXPECT_EQ(times(run, members[static_cast<std::size_t>(device)]).started, SimTime(30));
    EXPECT_EQ(times(run, members[static_cast<std::size_t>(device)]).ended, SimTime(132));  // the slowest member's time
  }
}

TEST(Engine, TasksOnOneLinkSlowEachOther) {
  Scene scene(2);
  const TaskId a = scene.add({.device = 0, .duration = 100, .share = 1.0});
  const TaskId b = scene.add({.device = 1, .duration = 60, .share = 1.0});
  const TaskId after = scene.add({.device = 1, .duration = 7});
  const EngineRun run = scene.run();
  EXPECT_EQ(times(run, b).ended, SimTime(120));
  EXPECT_EQ(times(run, a).ended, SimTime(160));
  EXPECT_EQ(times(run, after).ended, SimTime(127));
}

// A slowed task that speeds up again leaves its old end in the queue: the step must not last until then.
TEST(Engine, AMovedEndDoesNotHoldTheClock) {
  Scene scene(2);
  scene.add({.device = 0, .duration = 100, .share = 1.0});
  scene.add({.device = 1, .duration = 50, .share = 1.0});
  EXPECT_EQ(scene.run().step_time, SimTime(150));
}

TEST(Engine, MembersOfARendezvousShareALinkAsOne) {
  Scene scene(2);
  const std::int32_t meeting = scene.builder().add_rendezvous();
  for (std::int32_t device = 0; device < 2; ++device)
    scene.builder().join(scene.add({.device = device, .stream = Stream::Reduce, .duration = 100, .share = 1.0}), meeting);
  EXPECT_EQ(scene.run().step_time, SimTime(200));
}

TEST(Engine, MemoryOfTasksOneAfterTheOtherDoesNotAddUp) {
  for (const StreamOrder order : {StreamOrder::Overlapping, StreamOrder::InOrder}) {
    Scene scene(1);
    scene.add({.duration = 10, .temporary = 100});
    scene.add({.duration = 10, .temporary = 70});
    scene.add({.stream = Stream::Reduce, .duration = 5, .temporary = 1});
    scene.run(order);
    EXPECT_EQ(scene.peak(0), Bytes(order == StreamOrder::InOrder ? 100 : 101));
  }
}

TEST(Engine, TasksOfNoTimeEndInTheirInstant) {
  Scene scene(1);
  for (int i = 0; i < 10; ++i) scene.add({.duration = 0, .share = i % 2 == 0 ? 1.0 : 0.0});
  EXPECT_EQ(scene.run().step_time, SimTime(0));
}

TEST(EngineDeathTest, ACircleIsABrokenInvariant) {
  Scene scene(1);
  const TaskId first = scene.add({.duration = 1}), second = scene.add({.duration = 1});
  scene.builder().add_edge(second, first);
  EXPECT_DEATH(scene.run(), "cannot end");
}

}  // namespace
}  // namespace sim
