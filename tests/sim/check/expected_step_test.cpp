#include <gmock/gmock.h>

#include "sim/check/expected_work.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

// From the second microbatch on what the host has summed comes up, and new weights stay where they are.
TEST(ExpectedStep, GradientsAreSummedOnTheHostWhereWeightsAreThere) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.zero_stage = 3;
  plan.offload_optimizer = plan.offload_parameters = true;
  plan.accumulation = Accumulation::ReduceEach;
  const ModelGraph model = make_model_graph(plan);
  const std::vector<Bucket> buckets = make_buckets(model, plan, StageIndex(0));
  std::int64_t up = 0, down = 0, of_step = 0;
  for (const ExpectedTask& task : expected_work(model, plan, StageIndex(0), buckets)) {
    up += task.key.phase == Phase::Gradients && task.key.operation == Operation::CopyToDevice ? 1 : 0;
    down += task.key.phase == Phase::Gradients && task.key.operation == Operation::CopyToHost ? 1 : 0;
    of_step += task.key.phase == Phase::Step && task.key.operation == Operation::CopyToDevice ? 1 : 0;
  }
  const auto count = static_cast<std::int64_t>(buckets.size());
  EXPECT_EQ(down, count * plan.num_microbatches());
  EXPECT_EQ(up, count * (plan.num_microbatches() - 1));
  EXPECT_EQ(of_step, 0);
}

}  // namespace
}  // namespace sim
