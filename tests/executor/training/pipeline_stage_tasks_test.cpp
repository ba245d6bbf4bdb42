#include "executor/kernels/counting_allocator.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

at::Tensor gradients_of(sim::ParallelPlan plan) {
  Training training(std::move(plan));
  training.step(0);
  return training.parameters.buckets().front().gradients().clone();
}

// A central difference of the loss along the gradient itself: its slope is the squared norm.
TEST(StageTasks, GradientIsTheSlopeOfTheLoss) {
  sim::ParallelPlan plan = tiny_plan();
  plan.training.learning_rate = plan.training.minimum_learning_rate = 0;
  Training training(plan);
  const StepSummary here = training.step(0);
  const at::Tensor direction = training.parameters.buckets().front().gradients().clone(),
                   weights = training.parameters.buckets().front().weights();
  constexpr double kStep = 1e-6;
  weights.add_(direction, kStep);
  const double ahead = training.step(0).loss;
  weights.add_(direction, -2 * kStep);
  const double behind = training.step(0).loss;
  EXPECT_NEAR((ahead - behind) / (2 * kStep), here.gradient_norm * here.gradient_norm, 1e-7);
}

TEST(StageTasks, RecomputationRepeatsBitsAndMasks) {
  sim::ParallelPlan plan = tiny_plan();
  plan.model.residual_dropout = plan.model.embedding_dropout = 0.3;
  const at::Tensor kept = gradients_of(plan);
  plan.recompute = sim::Recompute::Full;
  EXPECT_TRUE(at::equal(gradients_of(plan), kept));
  plan.training.seed = 2;
  EXPECT_FALSE(at::equal(gradients_of(plan), kept));
}

TEST(StageTasks, NothingIsKeptBetweenSteps) {
  install_counting_allocator();
  Training training(tiny_plan());
  training.step(0);
  const sim::Bytes after_first = alive_bytes();
  training.step(1);
  EXPECT_EQ(alive_bytes(), after_first);
}

}  // namespace
}  // namespace executor
