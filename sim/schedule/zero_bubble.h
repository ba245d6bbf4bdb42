// Schedules that split the backward pass: B, the gradient of the input, is on the way of the other stages; W, the gradients of the weights,
// fills what would be bubble. Each is a building block that is repeated every microbatch: a start per stage for each pass, in units of one
// pass, chosen so that no two passes of a stage meet. The order of a stage is all passes of all microbatches by their start.
// Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024 (zb-1p, zb-2p: one chunk, a block of 3);
// Qi et al., "Pipeline Parallelism with Controllable Memory", NeurIPS 2024 (zbv, v-half, v-min: two chunks in a V, a block of 6).
//
//   v-min, p = 2        stage 0   F0 . . F1 B1 . . B0 ...      stage s holds virtual stages s (down) and 2p-1-s (up)
//                       stage 1   . F0 F1 . . B1 B0 ...
//
// Memory relative to 1f1b (p microbatches on the first stage): the time from a microbatch's F to its W over the block's length:
//   zb-1p 1    zb-2p 2    zbv 1    v-half 1/2    v-min 1/3
// Where the optimizer step waits for the global gradient norm, what zb-2p and zbv leave of a bubble at the end remains; with post_validation it does not.
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {
extern const Schedule kZb1pSchedule, kZb2pSchedule, kZbvSchedule, kVHalfSchedule, kVMinSchedule;
}
