// fp16: the factor that keeps small gradients above zero. The loss is multiplied by it, gradients are divided by it in the update; where a
// gradient overflows the step is skipped and the factor shrinks, after a window without overflows it doubles.
//
//   pytorch     torch.amp.GradScaler: half at every overflow
//   deepspeed   DynamicLossScaler: half at the second overflow since the last doubling (hysteresis 2), never below 1
//
// A function of what all ranks know (the summed gradient norm), so all ranks skip the same steps. Saved in checkpoints.
#pragma once

#include <cstdint>

#include "sim/plan/parallel_plan.h"

namespace executor {

struct LossScaleState {
  double scale = 1;
  std::int64_t good_steps = 0;     // since the last overflow or doubling
  std::int64_t forgiven = 0;       // overflows since the last doubling that did not shrink it
  std::int64_t skipped_steps = 0;  // of the whole run: the optimizer has not counted them
  bool operator==(const LossScaleState&) const = default;
};

LossScaleState initial_loss_scale(const sim::ParallelPlan& plan);  // 1, for ever, unless in fp16

struct Overflow {
  bool happened = false;
};
LossScaleState next_loss_scale(LossScaleState state, Overflow overflow, const sim::ParallelPlan& plan);

}  // namespace executor
