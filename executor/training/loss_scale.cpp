#include "executor/training/loss_scale.h"

#include <algorithm>

namespace executor {
namespace {

constexpr std::int64_t kForgivenByDeepSpeed = 1;  // hysteresis 2
constexpr double kLowestOfDeepSpeed = 1.0;

bool is_scaled(const sim::ParallelPlan& plan) { return plan.workload.precision.compute() == sim::Precision::Fp16; }

}  // namespace

LossScaleState initial_loss_scale(const sim::ParallelPlan& plan) {
  return {.scale = is_scaled(plan) ? plan.training.initial_loss_scale : 1.0};
}

LossScaleState next_loss_scale(LossScaleState state, Overflow overflow, const sim::ParallelPlan& plan) {
  if (!is_scaled(plan)) return state;
  const bool deepspeed = plan.training.loss_scale_rule == sim::LossScaleRule::DeepSpeed;
  if (!overflow.happened) {
    if (++state.good_steps < plan.training.loss_scale_window) return state;
    state.scale *= 2;
    state.good_steps = state.forgiven = 0;
    return state;
  }
  ++state.skipped_steps;
  state.good_steps = 0;
  if (deepspeed && state.forgiven < kForgivenByDeepSpeed) {
    ++state.forgiven;
    return state;
  }
  state.scale = deepspeed ? std::max(state.scale / 2, kLowestOfDeepSpeed) : state.scale / 2;
  return state;
}

}  // namespace executor
