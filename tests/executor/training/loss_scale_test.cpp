#include "executor/training/loss_scale.h"

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan fp16_plan(sim::LossScaleRule rule) {
  sim::ParallelPlan plan = tiny_plan();
  plan.workload.precision = sim::Precision::Fp16;
  plan.training.loss_scale_rule = rule;
  plan.training.initial_loss_scale = 16;
  plan.training.loss_scale_window = 3;
  return plan;
}

// One character a step: o overflows, . does not. Returns the scales after each.
std::vector<double> scales(const sim::ParallelPlan& plan, std::string_view steps) {
  LossScaleState state = initial_loss_scale(plan);
  std::vector<double> all;
  for (const char step : steps) {
    state = next_loss_scale(state, {.happened = step == 'o'}, plan);
    all.push_back(state.scale);
  }
  return all;
}

using testing::ElementsAre;

// torch.amp.GradScaler(init_scale=16, growth_interval=3).
TEST(LossScale, PyTorchHalvesAtEveryOverflow) {
  EXPECT_THAT(scales(fp16_plan(sim::LossScaleRule::PyTorch), "..oo....o..."), ElementsAre(16, 16, 8, 4, 4, 4, 8, 8, 4, 4, 4, 8));
}

// deepspeed DynamicLossScaler(init_scale=16, scale_window=3, delayed_shift=2, min_scale=1).
TEST(LossScale, DeepSpeedForgivesTheFirstOfAWindow) {
  EXPECT_THAT(scales(fp16_plan(sim::LossScaleRule::DeepSpeed), "oo.o...oo"), ElementsAre(16, 8, 8, 4, 4, 4, 8, 8, 4));
  EXPECT_THAT(scales(fp16_plan(sim::LossScaleRule::DeepSpeed), "ooooooo").back(), 1.0) << "never below 1";
}

TEST(LossScale, OtherPrecisionsHaveNone) {
  sim::ParallelPlan plan = fp16_plan(sim::LossScaleRule::PyTorch);
  plan.workload.precision = sim::Precision::Bf16;
  EXPECT_THAT(scales(plan, ".o..."), testing::Each(1.0));
}

TEST(LossScale, AnOverflowSkipsTheStepAndIsNotCounted) {
  sim::ParallelPlan plan = fp16_plan(sim::LossScaleRule::PyTorch);
  plan.training.initial_loss_scale = 1e9;  // beyond fp16
  Training training(plan);
  const at::Tensor before = training.weights();
  EXPECT_TRUE(training.step(0).skipped);
  EXPECT_TRUE(at::equal(training.weights(), before));
  EXPECT_EQ(training.runner.optimizer().loss_scale().scale, 5e8);
  std::int64_t step = 1;
  while (training.step(step).skipped) ++step;
  EXPECT_FALSE(at::equal(training.weights(), before));
  EXPECT_EQ(training.runner.optimizer().loss_scale().skipped_steps, step);
}

}  // namespace
}  // namespace executor
