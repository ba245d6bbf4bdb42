#include "sim/cost/gradient_lifetime.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sim/cost/resident_memory.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/at.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

// The tasks with which full gradients of any bucket begin, on stage 0.
std::vector<std::string> beginnings(const ParallelPlan& plan) {
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan);
  const GradientLifetime lifetime(model, plan);
  std::vector<std::string> texts;
  for (const Task& task : graph.tasks()) {
    if (task.key.stage != StageIndex(0) || !lifetime.may_begin(task.key)) continue;
    for (const Bucket& bucket : graph.buckets()[0])
      if (lifetime.begins(task.key, bucket)) texts.push_back(fmt::format("m{} l{}", task.key.microbatch.value(), task.key.layer.value()));
  }
  return texts;
}

ParallelPlan sharded_plan(DeviceMesh mesh) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.zero_stage = 3;  // one bucket a layer
  plan.workload.global_batch = 4;
  return plan;
}

TEST(GradientLifetime, IsLimitedWhereGradientsAreSharded) {
  for (const std::int32_t zero_stage : {0, 1, 2, 3})
    for (const std::int32_t data : {1, 2}) {
      ParallelPlan plan = testing::tiny_plan({.data = data, .pipeline = 1, .tensor = 1});
      plan.zero_stage = zero_stage;
      const ModelGraph model = make_model_graph(plan);
      EXPECT_EQ(GradientLifetime(model, plan).is_limited(), zero_stage >= 2 && data == 2);
    }
}

// Tensor ranks that do not cut experts share their gradients.
TEST(GradientLifetime, IsLimitedWhereTensorRanksHoldTheSameExperts) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .tensor = 2, .expert_tensor = 1});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  plan.sequence_parallel = true;
  plan.zero_stage = 2;
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_TRUE(GradientLifetime(make_model_graph(plan), plan).is_limited());
  EXPECT_TRUE(reduces_each(plan));
  plan.mesh.expert_tensor = 0;
  EXPECT_FALSE(GradientLifetime(make_model_graph(plan), plan).is_limited());
  EXPECT_FALSE(reduces_each(plan));
}

// Once a step, whenever they are reduced: zero_grad() ends them.
TEST(GradientLifetime, LastsUntilTheStepBesideBuckets) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.workload.global_batch = 4;
  plan.accumulation = Accumulation::ReduceEach;
  plan.cluster.software.own_memory = plan.cluster.software.keeps_buckets = true;
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan);
  const GradientLifetime lifetime(model, plan);
  EXPECT_TRUE(lifetime.is_limited());
  EXPECT_TRUE(lifetime.ends_with_step());
  EXPECT_EQ(beginnings(plan).size(), graph.buckets()[0].size());
  plan.zero_stage = 1;
  EXPECT_FALSE(GradientLifetime(model, plan).ends_with_step());
}

// On one device there are no buckets to lie beside.
TEST(GradientLifetime, LastsUntilTheStepOnOneDevice) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.global_batch = 4;
  const auto resident = [&] {
    return at(resident_memory(plan, stage_elements(plan, lower(make_model_graph(plan), plan).buckets()[0])), MemoryCategory::Gradients);
  };
  EXPECT_GT(resident(), Bytes(0)) << "the worker's stay";
  plan.cluster.software.own_memory = plan.cluster.software.keeps_buckets = true;
  const ModelGraph model = make_model_graph(plan);
  EXPECT_TRUE(GradientLifetime(model, plan).ends_with_step());
  EXPECT_FALSE(has_buckets_beside(plan));
  EXPECT_EQ(resident(), Bytes(0));
}

// Whole gradients end with the step of their weights, whatever the program keeps otherwise; of a shard nobody holds them whole.
TEST(GradientLifetime, EndsInTheBackwardWhereWeightsAreSteppedThere) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.workload.global_batch = 2 * plan.microbatch_size;
  plan.training.gradient_clip = 0;
  plan.optimizer_in_backward = true;
  const auto resident = [&] {
    return at(resident_memory(plan, stage_elements(plan, lower(make_model_graph(plan), plan).buckets()[0])), MemoryCategory::Gradients);
  };
  EXPECT_TRUE(drops_gradients(plan));
  EXPECT_FALSE(has_buckets_beside(plan));
  EXPECT_EQ(resident(), Bytes(0));
  plan.cluster.software.own_memory = plan.cluster.software.keeps_buckets = true;
  EXPECT_TRUE(has_buckets_beside(plan)) << "DDP's stay";
  EXPECT_GT(resident(), Bytes(0));
  plan.zero_stage = 3;
  EXPECT_FALSE(drops_gradients(plan));
  EXPECT_EQ(resident(), Bytes(0));
}

// The tied head (layer 5) adds to the embedding's gradient, so that bucket begins there, beside the head's own.
TEST(GradientLifetime, BeginsWithTheFirstMicrobatchOfAStep) {
  EXPECT_THAT(beginnings(sharded_plan({.data = 2, .pipeline = 1, .tensor = 1})),
              ElementsAre("m0 l5", "m0 l5", "m0 l4", "m0 l3", "m0 l2", "m0 l1"));
}

// Across stages the embedding is a bucket by itself, reduced once: its gradient begins once.
TEST(GradientLifetime, BeginsInEveryMicrobatchThatIsReducedByItself) {
  ParallelPlan plan = sharded_plan({.data = 2, .pipeline = 2, .tensor = 1});
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_THAT(beginnings(plan), ElementsAre("m0 l2", "m0 l1", "m0 l0", "m0 l0", "m1 l2", "m1 l1", "m1 l0"));
}

}  // namespace
}  // namespace sim
