#include "executor/kernels/counting_allocator.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan plan_with_experts() {
  sim::ParallelPlan plan = tiny_plan();
  plan.model.experts = sim::ExpertForm{
      .experts = 4, .shared_experts = 1, .topk = 2, .expert_ffn = 12, .shared_ffn = 8, .first_dense_layers = 1, .renormalised = true};
  return plan;
}

void move_along(std::vector<FlatBucket>& buckets, const std::vector<at::Tensor>& direction, double step) {
  for (std::size_t at = 0; at < buckets.size(); ++at) buckets[at].weights().add_(direction[at], step);
}

// As in pipeline_stage_tasks_test.cpp; a choice that does not change has no slope.
TEST(StageExperts, GradientIsTheSlopeOfTheLoss) {
  sim::ParallelPlan plan = plan_with_experts();
  plan.training.learning_rate = plan.training.minimum_learning_rate = 0;
  Training training(plan);
  std::vector<FlatBucket>& buckets = training.parameters.buckets();
  EXPECT_GT(buckets.size(), 1U) << "experts have their own";
  const StepSummary here = training.step(0);
  std::vector<at::Tensor> direction;
  for (const FlatBucket& bucket : buckets) direction.push_back(bucket.gradients().clone());
  constexpr double kStep = 1e-6;
  move_along(buckets, direction, kStep);
  const double ahead = training.step(0).loss;
  move_along(buckets, direction, -2 * kStep);
  const double behind = training.step(0).loss;
  EXPECT_NEAR((ahead - behind) / (2 * kStep), here.gradient_norm * here.gradient_norm, 1e-7);
}

std::vector<at::Tensor> gradients_with(sim::Recompute recompute) {
  sim::ParallelPlan plan = plan_with_experts();
  plan.recompute = recompute;
  Training training(plan);
  training.step(0);
  std::vector<at::Tensor> gradients;
  for (const FlatBucket& bucket : training.parameters.buckets()) gradients.push_back(bucket.gradients().clone());
  return gradients;
}

TEST(StageExperts, RecomputationRoutesAgainAlike) {
  const auto kept = gradients_with(sim::Recompute::None), again = gradients_with(sim::Recompute::Full);
  for (std::size_t at = 0; at < kept.size(); ++at) EXPECT_TRUE(at::equal(again[at], kept[at])) << at;
}

sim::ExpertRows rows_of_a_step(const sim::ParallelPlan& plan) {
  Training training(plan);
  training.step(0);
  return training.recorder.last().expert_rows;
}

// Each token's two choices in each block of experts, counted on the way forward alone.
TEST(StageExperts, RowsOfExpertsAreCountedOnce) {
  sim::ParallelPlan plan = plan_with_experts();
  const sim::ExpertRows counted = rows_of_a_step(plan);
  const std::int64_t blocks = plan.model.layers - 1, tokens = plan.workload.global_batch * plan.workload.sequence;
  EXPECT_EQ(counted.rows, 2 * tokens * blocks);
  EXPECT_EQ(counted.times, 4 * blocks * plan.num_microbatches());
  EXPECT_GT(sim::spread_of(counted), 0.0);
  plan.recompute = sim::Recompute::Full;
  EXPECT_EQ(rows_of_a_step(plan), counted);
  plan.model.experts->capacity_factor = 1;
  for (const sim::ExpertDispatch limited : {sim::ExpertDispatch::Padded, sim::ExpertDispatch::Drop}) {
    plan.model.experts->dispatch = limited;
    EXPECT_EQ(rows_of_a_step(plan), sim::ExpertRows{}) << "padded to equal rows, or dropped";
  }
}

TEST(StageExperts, NothingIsKeptBetweenSteps) {
  install_counting_allocator();
  sim::ParallelPlan plan = plan_with_experts();
  plan.recompute = sim::Recompute::Full;
  Training training(plan);
  training.step(0);
  const sim::Bytes after_first = alive_bytes();
  training.step(1);
  EXPECT_EQ(alive_bytes(), after_first);
}

}  // namespace
}  // namespace executor
