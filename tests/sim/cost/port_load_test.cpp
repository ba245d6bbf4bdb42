#include "sim/cost/port_load.h"

#include <gtest/gtest.h>

#include "sim/cost/cost_model.h"
#include "tests/sim/timeline/steps.h"

namespace sim {
namespace {

// Between a step's ends: ordered, never above what a port can carry, nothing left at the end.
TEST(PortLoad, RisesAndEndsAtNothing) {
  testing::PlanGenerator generator(5);
  int loaded = 0;
  for (int i = 0; i < 12; ++i) {
    const ParallelPlan plan = generator.next(DeviceKind::Gpu);
    SCOPED_TRACE(testing::describe(plan));
    const testing::Step step = testing::simulated_step(plan, Fold::Symmetric);
    const ModelGraph model = make_model_graph(plan);
    const std::vector<LoadSample> loads = port_loads({model, plan, step.graph, step.timeline, step.dependencies.span_of});
    for (std::size_t at = 0; at < loads.size(); ++at) {
      EXPECT_GE(loads[at].load, 0);
      EXPECT_LE(loads[at].load, 1);
      const bool is_last = at + 1 == loads.size() || loads[at + 1].device != loads[at].device;
      EXPECT_TRUE(is_last ? loads[at].load < 1e-9 : loads[at].time < loads[at + 1].time);
      loaded += loads[at].load > 0;
    }
  }
  EXPECT_GT(loaded, 0);
}

// One collective alone: its share, from its beginning to its end.
TEST(PortLoad, OfOneTransferIsItsShare) {
  testing::PlanGenerator generator(5);
  for (int i = 0; i < 12; ++i) {
    const ParallelPlan plan = generator.next(DeviceKind::Gpu);
    const testing::Step step = testing::simulated_step(plan, Fold::Symmetric);
    const ModelGraph model = make_model_graph(plan);
    const CostModel costs(model, plan);
    std::vector<std::int64_t> one(step.dependencies.span_of.size(), -1);
    for (std::size_t task = 0; task < one.size(); ++task) {
      const Task& moved = step.graph.tasks()[task];
      const Span& span = step.timeline.spans[static_cast<std::size_t>(step.dependencies.span_of[task])];
      if (!is_communication(moved.key.operation) || span.end <= span.start) continue;
      one[task] = step.dependencies.span_of[task];
      const std::vector<LoadSample> loads = port_loads({model, plan, step.graph, step.timeline, one});
      one[task] = -1;
      if (loads.empty()) continue;  // it uses another link
      ASSERT_EQ(loads.size(), 2u);
      EXPECT_EQ(loads[0].time, span.start);
      EXPECT_EQ(loads[1].time, span.end);
      EXPECT_EQ(loads[0].device, moved.device);
      double most = 0;
      const TaskCost& cost = costs.cost(moved, step.graph);
      for (std::size_t at = 0; at < cost.num_uses; ++at) most = std::max(most, cost.uses[at].share);
      EXPECT_LE(loads[0].load, most);
      EXPECT_GT(loads[0].load, 0);
      break;
    }
  }
}

}  // namespace
}  // namespace sim
