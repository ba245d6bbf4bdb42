// Zero-bubble orders over steps that cross (post-validation), where all passes are equally long: what a barrier leaves of a bubble, and that nothing is
// left without one. Qi et al., ICLR 2024, section 4, and NeurIPS 2024.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "sim/engine/steady.h"
#include "sim/schedule/schedule.h"
#include "sim/task_graph/task_graph_builder.h"

namespace sim {
namespace {

constexpr SimTime kPass(1000);

struct Order {
  const char* schedule;
  std::int32_t chunks;
};

// Actions of all stages in the schedule's order; what crosses stages takes no time, and a step's end is its last action alone.
class Pipeline {
 public:
  Pipeline(const Order& of, std::int32_t stages, std::int32_t microbatches) {
    const Schedule& row = *find_schedule(of.schedule);
    const PipelineShape shape{.stages = stages, .microbatches = microbatches, .chunks = of.chunks};
    TaskGraphBuilder builder;
    std::map<std::tuple<ActionKind, std::int32_t, MicrobatchIndex>, TaskId> tasks;  // by virtual stage
    for (StageIndex stage(0); stage.value() < stages; ++stage) {
      const DeviceId device = builder.add_device({.representative = Rank(stage.value()), .stage = stage});
      TaskId first, last;
      for (const StageAction& action : row.order(shape, stage)) {
        last = builder.add_task({.device = device});
        if (!first.exists()) first = last;
        tasks[{action.kind, virtual_stage(row.placement, shape, {stage, action.chunk}), action.microbatch}] = last;
      }
      builder.add_edge_between_steps(last, first);
    }
    for (const auto& [key, task] : tasks) {
      const auto& [kind, place, microbatch] = key;
      const std::int32_t before = place + (kind == ActionKind::Forward ? -1 : 1);
      const auto found = tasks.find({kind, before, microbatch});
      if (kind != ActionKind::Weight && found != tasks.end()) builder.add_edge(found->second, task);
    }
    graph_ = std::move(builder).freeze();
    priced_.assign(graph_.tasks().size(), {&cost_, &nothing_});
  }
  SimTime crossing() const {
    MemoryTracker memory = tracker();
    const PlayedStep played = play(graph_, priced_, LinkSharing({1}), StreamOrder::Overlapping, memory);
    EXPECT_GT(played.cycle, 0);
    return played.run.step_time;
  }
  SimTime with_barrier() const {
    MemoryTracker memory = tracker();
    return Engine(graph_, priced_, LinkSharing({1}), StreamOrder::Overlapping, memory).run().step_time;
  }

 private:
  MemoryTracker tracker() const { return {std::vector<MemoryBreakdown>(graph_.devices().size()), MemoryTracker::Keep::Peak}; }
  TaskGraph graph_;
  TaskCost cost_{.duration = kPass};
  MemoryEffect nothing_;
  std::vector<PricedTask> priced_;
};

TEST(ZeroBubbleSteps, WithoutABarrierNoBubbleIsLeft) {
  for (const std::int32_t stages : {2, 4, 8})
    for (const std::int32_t microbatches : {2 * stages, 3 * stages, 40}) {
      const SimTime work = kPass * (3 * microbatches);
      const Pipeline pipeline({"zb-2p", 1}, stages, microbatches);
      EXPECT_EQ(pipeline.crossing(), work) << stages << " stages, " << microbatches << " microbatches";
      EXPECT_EQ(pipeline.with_barrier(), work + kPass * (stages - 1)) << stages << " stages";
    }
}

// With half as many in flight its bubble is inside the step; so is that of the V, whose turns are not the same on all stages.
TEST(ZeroBubbleSteps, OtherOrdersHaveTheirBubbleInsideTheStep) {
  for (const std::int32_t stages : {2, 4, 8}) {
    const Pipeline v({"zbv", 2}, stages, 3 * stages);
    EXPECT_LE(v.crossing(), v.with_barrier());
    EXPECT_GE(v.crossing(), kPass * (18 * stages));
    const Pipeline pipeline({"zb-1p", 1}, stages, 3 * stages);
    EXPECT_EQ(pipeline.crossing(), pipeline.with_barrier());
    EXPECT_EQ(pipeline.crossing(), kPass * (9 * stages + stages - 1));
  }
}

}  // namespace
}  // namespace sim
