#include "executor/training/optimizer.h"

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(LearningRate, WarmsUpThenDecaysToTheMinimum) {
  sim::TrainingSettings settings;
  settings.learning_rate = 1.0;
  settings.minimum_learning_rate = 0.1;
  settings.warmup_steps = 4;
  settings.decay_steps = 104;
  EXPECT_EQ(learning_rate(settings, {0}), 0.25);
  EXPECT_EQ(learning_rate(settings, {3}), 1.0);
  EXPECT_EQ(learning_rate(settings, {4}), 1.0);
  EXPECT_NEAR(learning_rate(settings, {54}), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate(settings, {104}), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate(settings, {500}), 0.1, 1e-12);
  settings.decay_steps = 0;
  EXPECT_EQ(learning_rate(settings, {500}), 1.0);
}

TEST(Optimizer, NormAndLossAreThoseOfTheGradients) {
  Training training(tiny_plan());
  const StepSummary summary = training.step(0);
  double squares = 0;
  for (FlatBucket& bucket : training.parameters.buckets()) squares += bucket.gradients().pow(2).sum().item<double>();
  EXPECT_NEAR(summary.gradient_norm, std::sqrt(squares), 1e-12 * std::sqrt(squares));
  EXPECT_NEAR(summary.loss, std::log(13.0), 0.05) << "an untrained model guesses";
}

TEST(Optimizer, ClippingLimitsTheStep) {
  const auto moved = [](double clip) {
    sim::ParallelPlan plan = tiny_plan();
    plan.workload.optimizer = sim::OptimizerKind::Sgd;
    plan.training.gradient_clip = clip;
    plan.training.weight_decay = 0;
    Training training(plan);
    const at::Tensor before = training.weights();
    const double norm = training.step(0).gradient_norm;
    return std::pair((training.weights() - before).norm().item<double>() / plan.training.learning_rate, norm);
  };
  EXPECT_NEAR(moved(0.01).first, 0.01, 1e-7);
  EXPECT_NEAR(moved(0).first, moved(0).second, 1e-9) << "0 is no limit";
}

// The device decides: the host reads the sums of a step once, at its end, as in other precisions.
TEST(Optimizer, WhatOverflowsIsSkippedOnADeviceWithoutAskingTheHost) {
  for (const sim::OptimizerKind kind : {sim::OptimizerKind::AdamW, sim::OptimizerKind::Sgd, sim::OptimizerKind::Muon}) {
    sim::ParallelPlan plan = tiny_plan();
    plan.workload.precision = sim::Precision::Fp16;
    plan.workload.optimizer = kind;
    plan.training.initial_loss_scale = 0x1p60;
    Training training(plan, checked_device());
    const auto state = [&] {
      std::vector<at::Tensor> all;
      for (FlatBucket& bucket : training.parameters.buckets()) {
        all.push_back(bucket.weights().cpu());
        all.push_back(bucket.master(bucket.stepped()).cpu());
        all.push_back(bucket.moment(0, bucket.stepped()).cpu());
      }
      return all;
    };
    const std::vector<at::Tensor> before = state();
    EXPECT_TRUE(training.step(0).skipped);
    const std::vector<at::Tensor> behind = state();
    for (std::size_t at = 0; at < before.size(); ++at) EXPECT_TRUE(at::equal(behind[at], before[at])) << at;
    const std::int64_t reads = checked_reads();
    EXPECT_EQ(training.step(1).loss_scale, 0x1p59);
    EXPECT_EQ(checked_reads() - reads, 1);
  }
}

TEST(Optimizer, StopRequestsTravelWithTheLoss) {
  Training training(tiny_plan());
  const StepSummary plain = training.step(0);
  EXPECT_FALSE(plain.stop_requested);
  Optimizer optimizer(training.plan, sim::Rank(0), training.parameters);
  optimizer.sum_up({}, {.stop = true});
  EXPECT_TRUE(optimizer.summary().stop_requested);
  EXPECT_EQ(optimizer.summary().loss, 0.0) << "the wish does not change the sum";
}

}  // namespace
}  // namespace executor
