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

}  // namespace
}  // namespace sim
