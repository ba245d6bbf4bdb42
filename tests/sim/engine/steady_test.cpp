#include "sim/engine/steady.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/cost/cost_model.h"
#include "sim/task_graph/repeat.h"
#include "tests/sim/engine/layered_steps.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::LayeredSteps;
using Sums = testing::LayeredSteps::Sums;

TEST(Steady, SumsHideBehindTheNextForward) {
  // F 0..3 (10 each), B 3..0 (20 each); a sum takes 40: the first begins at 60, and from then on the stream is busy until 220.
  const LayeredSteps steps(4, {.forward = 10, .backward = 20, .sum = 40}, Sums::ByPriority);
  const PlayedStep played = steps.play();
  EXPECT_EQ(played.cycle, 1);
  EXPECT_EQ(steps.alone(), SimTime(220));
  EXPECT_LT(played.run.step_time, steps.alone());
  EXPECT_EQ(played.until - played.from, played.run.step_time);
  EXPECT_EQ(played.run.devices[0].busy, SimTime(120));
  EXPECT_EQ(played.run.devices[0].communication, SimTime(160));
}

TEST(Steady, AStepAloneIsPlayedAsIfNothingCrossed) {
  TaskGraphBuilder builder;
  builder.add_device({.representative = Rank(0), .stage = StageIndex(0)});
  builder.add_task({.device = DeviceId(0)});
  const TaskGraph graph = std::move(builder).freeze();
  const TaskCost cost{.duration = SimTime(7)};
  const MemoryEffect nothing;
  MemoryTracker memory(std::vector<MemoryBreakdown>(1), MemoryTracker::Keep::Peak);
  const PlayedStep played = play(graph, {{&cost, &nothing}}, LinkSharing({1}), StreamOrder::Overlapping, memory);
  EXPECT_EQ(played.run.step_time, SimTime(7));
  EXPECT_EQ(played.until, SimTime(7));
  EXPECT_EQ(played.cycle, 1);
}

// a > x of a step, x > b and b > a of the next: once around takes 90 and two steps. They begin 40 and 50 apart in turn, 45 each.
TEST(Steady, ACycleOfSeveralStepsIsShared) {
  TaskGraphBuilder builder;
  for (std::int32_t rank = 0; rank < 3; ++rank) builder.add_device({.representative = Rank(rank), .stage = StageIndex(rank)});
  const TaskId a = builder.add_task({.device = DeviceId(0)}), b = builder.add_task({.device = DeviceId(1)}),
               x = builder.add_task({.device = DeviceId(2)});
  builder.add_edge(a, x);
  builder.add_edge_between_steps(x, b);
  builder.add_edge_between_steps(b, a);
  const TaskGraph graph = std::move(builder).freeze();
  const TaskCost fast{.duration = SimTime(10)}, slow{.duration = SimTime(40)};
  const MemoryEffect nothing;
  MemoryTracker memory(std::vector<MemoryBreakdown>(3), MemoryTracker::Keep::Peak);
  const PlayedStep played =
      play(graph, {{&fast, &nothing}, {&slow, &nothing}, {&slow, &nothing}}, LinkSharing({1}), StreamOrder::Overlapping, memory);
  EXPECT_EQ(played.run.step_time, SimTime(45));
  EXPECT_EQ(played.cycle, 2);
}

// Played once behind the end of another, or as the seventh of eight: the same picoseconds.
TEST(Steady, FromOneMeetingToTheNextIsAStepAmongMany) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.zero_stage = 1;
  plan.overlap_weight_gather = true;
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph step = lower(model, plan, Fold::None);
  const CostModel costs(model, plan);
  const MemoryEffect nothing;
  const auto run = [&](const TaskGraph& graph) {
    std::vector<PricedTask> priced;
    for (const Task& task : graph.tasks()) priced.push_back({&costs.cost(task, step), &nothing});
    MemoryTracker memory(std::vector<MemoryBreakdown>(graph.devices().size()), MemoryTracker::Keep::Peak);
    const LinkSharing links({costs.num_links()});
    return &graph == &step ? play(graph, priced, links, StreamOrder::Overlapping, memory).run
                           : Engine(graph, priced, links, StreamOrder::Overlapping, memory).run();
  };
  const EngineRun once = run(step), many = run(repeated(step, {8}));
  const std::size_t tasks = step.tasks().size(), seventh = 6 * tasks, meeting = meeting_of(step, DeviceId(0)).position();
  EXPECT_EQ(once.step_time, many.tasks[seventh + meeting].ended - many.tasks[seventh - tasks + meeting].ended);
  SimTime from = SimTime::max();
  for (std::size_t task = 0; task < tasks; ++task) from = std::min(from, many.tasks[seventh + task].started);
  for (std::size_t task = 0; task < tasks; ++task) {
    EXPECT_EQ(once.tasks[task].started, many.tasks[seventh + task].started - from) << task;
    EXPECT_EQ(once.tasks[task].ended, many.tasks[seventh + task].ended - from) << task;
  }
}

TEST(Steady, MemoryOfAStepIsWhatIsAliveInIt) {
  const auto sample = [](std::int64_t time, std::int64_t bytes) {
    MemorySample one{.device = DeviceId(0), .time = SimTime(time), .alive = {}};
    one.alive[0] = Bytes(bytes);
    return one;
  };
  const auto within = samples_within({sample(0, 1), sample(10, 2), sample(15, 3), sample(30, 4)}, SimTime(12), SimTime(20));
  ASSERT_EQ(within.size(), 3u);
  EXPECT_EQ(within[0].alive[0], Bytes(2));
  EXPECT_EQ(within[1].time, SimTime(3));
  EXPECT_EQ(within[2].alive[0], Bytes(3));
  EXPECT_EQ(within[2].time, SimTime(8));
  EXPECT_EQ(samples_within({sample(0, 1), sample(20, 2)}, SimTime(12), SimTime(20))[1].alive[0], Bytes(2));
}

}  // namespace
}  // namespace sim
