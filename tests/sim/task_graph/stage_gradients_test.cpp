#include <gmock/gmock.h>

#include <set>

#include "sim/task_graph/stage_program.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

StageProgram stage_of(const ParallelPlan& plan, StageIndex stage) {
  const ModelGraph model = make_model_graph(plan);
  return make_stage_program(model, plan, stage, make_buckets(model, plan, stage));
}

TEST(StageGradients, ActivationsLeaveBeforeGradientsAreReduced) {
  const StageProgram program = stage_of(testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 1}), StageIndex(1));
  std::size_t last_send = 0, last_reduction = 0;
  for (std::size_t at = 0; at < program.tasks.size(); ++at) {
    if (program.tasks[at].key.operation == Operation::Send) last_send = at;
    if (program.tasks[at].key.phase == Phase::Gradients) last_reduction = at;
  }
  EXPECT_LT(last_send, last_reduction);
}

// A backward whose last product asks context ranks for a maximum on its way has no gradients before they have answered, and the next forward waits as long.
TEST(StageGradients, WaitForWhatTheLastProductHasAsked) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2, .context = 2});
  plan.workload.precision = PrecisionPolicy(Precision::Fp32).with(ScaleRecipe::Tensorwise, false);
  plan.bucket_size = Bytes(1);
  const StageProgram program = stage_of(plan, StageIndex(1));
  std::set<std::int32_t> reduced, followed;  // layers, and microbatches whose backward ends with block 3
  for (const auto& [before, after] : program.edges) {
    const TaskKey &asked = program.tasks[static_cast<std::size_t>(before)].key, &task = program.tasks[static_cast<std::size_t>(after)].key;
    if (asked.operation != Operation::AllReduce || asked.phase != Phase::Backward || asked.group != MeshAxis::Context) continue;
    if (task.phase == Phase::Gradients && task.layer == asked.layer) reduced.insert(task.layer.value());
    if (task.phase == Phase::Forward && task.operation == Operation::AttentionInput) followed.insert(asked.microbatch.value());
  }
  EXPECT_THAT(reduced, ::testing::ElementsAre(3, 4));
  EXPECT_THAT(followed, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

// As DeepSpeed does it: a bucket of each microbatch crosses whole, and a rank adds its slice to what it has.
TEST(StageGradients, WholeSumsCrossForEachMicrobatchOfStageTwo) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.zero_stage = 2;
  plan.accumulation = Accumulation::ReduceEach;
  plan.gradient_sync = GradientSync::AllReduce;
  Bytes summed{}, whole{};
  std::int64_t added = 0;
  for (const Task& task : stage_of(plan, StageIndex(0)).tasks) {
    if (task.key.phase != Phase::Gradients) continue;
    EXPECT_NE(task.key.operation, Operation::ReduceScatter);
    if (task.key.operation == Operation::AllReduce) summed += task.payload;
    added += task.key.operation == Operation::Accumulate;
  }
  const std::vector<Bucket> buckets = make_buckets(make_model_graph(plan), plan, StageIndex(0));
  for (const Bucket& bucket : buckets) whole += plan.bytes(Numbers::Wire) * bucket.elements;
  ASSERT_GT(plan.num_microbatches(), 1);
  EXPECT_EQ(summed, whole * plan.num_microbatches());
  EXPECT_EQ(added, std::ssize(buckets) * plan.num_microbatches());
}

// Owners of a replica share their gradients, replicas sum what is left; where one rank of a replica has the experts, it is all of them.
TEST(StageGradients, ReplicasSumWhatTheirOwnersHave) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .replicas = 2, .expert = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  int within = 0, between = 0;
  for (const Task& task : stage_of(plan, StageIndex(0)).tasks) {
    within += task.key.phase == Phase::Gradients && task.key.group == MeshAxis::ExpertData;
    between += task.key.phase == Phase::Gradients && task.key.group == MeshAxis::Replica;
  }
  const ModelGraph model = make_model_graph(plan);
  EXPECT_EQ(within, 0);
  EXPECT_EQ(between, std::ssize(make_buckets(model, plan, StageIndex(0))));
}

// Of two microbatches the head's weights come behind the last backward of its stage; what is reduced with them waits.
TEST(StageGradients, WeightsOfTheHeadComeLast) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.delay_head_wgrad = 2;
  plan.model.tied_embeddings = false;
  plan.bucket_size = Bytes(1);
  const std::vector<Task> tasks = stage_of(plan, StageIndex(1)).tasks;
  std::vector<std::int32_t> delayed;
  std::size_t last_backward = 0, first_weight = tasks.size(), head_reduced = 0, block_reduced = 0;
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    const TaskKey& key = tasks[at].key;
    if (key.phase == Phase::Backward) last_backward = at;
    if (key.phase == Phase::Weight) delayed.push_back(key.microbatch.value()), first_weight = std::min(first_weight, at);
    if (key.phase == Phase::Gradients && key.operation == Operation::AllReduce)
      (key.layer == plan.head() ? head_reduced : block_reduced) = at;
  }
  EXPECT_THAT(delayed, ::testing::ElementsAre(0, 1));
  EXPECT_GT(first_weight, last_backward);
  EXPECT_GT(head_reduced, first_weight + 1);
  EXPECT_LT(block_reduced, first_weight);
  for (const Task& task : stage_of(plan, StageIndex(0)).tasks) EXPECT_NE(task.key.phase, Phase::Weight);
}

}  // namespace
}  // namespace sim
