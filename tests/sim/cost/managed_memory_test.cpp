#include "sim/cost/managed_memory.h"

#include <gtest/gtest.h>

#include "sim/cost/resident_memory.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/at.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan paged_plan(OptimizerKind optimizer, std::int32_t zero_stage) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware = testing::small_gpu();
  plan.workload.optimizer = optimizer;
  plan.zero_stage = zero_stage;
  plan.paged_optimizer = true;
  return plan;
}

Bytes states_on_device(const ParallelPlan& plan, const std::vector<Bucket>& buckets) {
  return sim::at(resident_memory(plan, buckets), MemoryCategory::OptimizerState);
}

// Two moments of an element: what a device's allocator lacks is what is managed, whoever shares it.
TEST(ManagedMemory, IsWhatTheAllocatorLacks) {
  for (const OptimizerKind optimizer : {OptimizerKind::AdamW, OptimizerKind::AdamW8bit})
    for (const std::int32_t zero_stage : {0, 1, 3}) {
      const ParallelPlan plan = paged_plan(optimizer, zero_stage);
      ParallelPlan kept = plan;
      kept.paged_optimizer = false;
      const TaskGraph graph = lower(make_model_graph(plan), plan);
      const std::vector<Bucket>& buckets = graph.buckets()[0];
      Bytes managed{};
      std::int64_t stepped = 0;
      for (const Bucket& bucket : buckets) managed += managed_bytes(plan, bucket), stepped += stepped_elements(bucket, plan);
      const std::int64_t moment = optimizer == OptimizerKind::AdamW ? 4 : 1;
      EXPECT_EQ(managed, Bytes(2 * moment * stepped));
      EXPECT_EQ(states_on_device(kept, buckets) - states_on_device(plan, buckets), managed);
      EXPECT_EQ(managed_bytes(kept, buckets.front()), Bytes{});
    }
}

TEST(ManagedMemory, ComesOverTheHostsLink) {
  ParallelPlan plan = paged_plan(OptimizerKind::AdamW, 0);
  plan.cluster.hardware.kernels.emplace().host_link = BytesPerSecond(1e9);
  const TaskGraph graph = lower(make_model_graph(plan), plan);
  const Bucket& bucket = graph.buckets()[0].front();
  EXPECT_DOUBLE_EQ(paging_time(plan, bucket).count(), static_cast<double>(managed_bytes(plan, bucket).value()) / 1e9);
}

}  // namespace
}  // namespace sim
