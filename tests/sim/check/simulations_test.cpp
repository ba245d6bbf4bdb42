// Both checkers over what lower() and the engine make of random plans.
#include <gmock/gmock.h>

#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

using ::testing::IsEmpty;

TEST(Simulations, PassTheCheckers) {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu}) {
    testing::PlanGenerator generator(23);
    for (int i = 0; i < 60; ++i) {
      const ParallelPlan plan = generator.next(kind);
      SCOPED_TRACE(testing::describe(plan));
      const ModelGraph model = make_model_graph(plan);
      for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
        const TaskGraph graph = lower(model, plan, fold);
        ASSERT_THAT(check_graph(model, plan, graph), IsEmpty());
        ASSERT_THAT(check_timeline(graph, simulate(model, plan, graph, Detail::Timeline).timeline), IsEmpty());
      }
    }
  }
}

// Frozen weights are gathered where they are sharded, and nothing else; what is trained is as of any network.
TEST(Simulations, OfAdaptersPassTheCheckers) {
  testing::PlanGenerator generator(29);
  int seen = 0;
  for (int i = 0; i < 60; ++i) {
    ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    std::vector<Violation> wrong;
    plan.model.adapters = parse_adapters(i % 3 == 0   ? "rank 2 on o base nf4"
                                         : i % 3 == 1 ? "rank 4 on q,v,o"
                                                      : "rank 2 on qkv,up,down",
                                         wrong);
    if (!violations(plan).empty()) continue;
    ++seen;
    SCOPED_TRACE(testing::describe(plan));
    const ModelGraph model = make_model_graph(plan);
    std::vector<SimTime> steps;
    for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
      const TaskGraph graph = lower(model, plan, fold);
      ASSERT_THAT(check_graph(model, plan, graph), IsEmpty());
      const SimulationResult result = simulate(model, plan, graph, Detail::Timeline);
      ASSERT_THAT(check_timeline(graph, result.timeline), IsEmpty());
      steps.push_back(result.step_time);
    }
    EXPECT_EQ(steps[0], steps[1]);
  }
  EXPECT_GT(seen, 30);
}

}  // namespace
}  // namespace sim
