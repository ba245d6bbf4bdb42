#include <gmock/gmock.h>

#include "sim/check/expected_work.h"
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

ParallelPlan with_full_ends(DeviceMesh mesh, std::int32_t stage) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.cluster.hardware.peak.fill(FlopsPerSecond(25e9));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(EndUnit::Embedding).with_full(EndUnit::Head);
  plan.zero_stage = stage;
  plan.sequence_parallel = mesh.tensor > 1;
  return plan;
}

TEST(ExpectedStep, UnitsInFullPrecisionTravelInTheirOwn) {
  for (const DeviceMesh mesh : {DeviceMesh{.data = 4}, DeviceMesh{.data = 2, .tensor = 2}, DeviceMesh{.data = 2, .pipeline = 2}})
    for (const std::int32_t stage : {0, 1, 2, 3}) {
      const ParallelPlan plan = with_full_ends(mesh, stage);
      EXPECT_THAT(violations(plan), ::testing::IsEmpty());
      EXPECT_THAT(testing::GraphParts(plan).findings(), ::testing::IsEmpty()) << stage;
    }
  ParallelPlan half = with_full_ends({.data = 4}, 0);
  testing::GraphParts rounded(half);
  Task& sum = rounded.task("gradients.all_reduce.data");
  sum.payload = sum.payload / std::int64_t{2};
  EXPECT_THAT(rounded.findings(), testing::says("gradients.all_reduce.data"));
}

// Blocks beside others: their collectives, those between tensor and context ranks, too, and what is gathered of them.
TEST(ExpectedStep, BlocksInFullPrecisionTravelInTheirOwn) {
  for (const DeviceMesh mesh : {DeviceMesh{.data = 4}, DeviceMesh{.data = 2, .tensor = 2}, DeviceMesh{.data = 2, .pipeline = 2},
                                DeviceMesh{.data = 2, .context = 2}})
    for (const std::int32_t stage : {0, 1, 2, 3}) {
      ParallelPlan plan = with_full_ends(mesh, stage);
      plan.model.attention_dropout = 0;
      plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(BlockRanges{{1, 1}});
      EXPECT_THAT(violations(plan), ::testing::IsEmpty());
      EXPECT_THAT(testing::GraphParts(plan).findings(), ::testing::IsEmpty()) << stage;
    }
  ParallelPlan cut = with_full_ends({.tensor = 2}, 0);
  cut.sequence_parallel = false;
  cut.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(BlockRanges{{1, 1}});
  testing::GraphParts rounded(cut);
  const Bytes narrow = rounded.task("m0.l1.forward.all_reduce.tensor").payload;
  Task& sum = rounded.task("m0.l2.forward.all_reduce.tensor");
  EXPECT_EQ(sum.payload, narrow * std::int64_t{2});
  sum.payload = narrow;
  EXPECT_THAT(rounded.findings(), testing::says("all_reduce.tensor"));
}

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
