// Interleaved one-forward-one-backward: v chunks a stage, so that the bubble shrinks to (p-1)/v microbatches; more sends pay for it.
// Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021.
// Virtual stage c * p + s is chunk c of stage s. Microbatches go in max(1, m div p) groups, as even as they can be, the longer ones first (g
// microbatches); inside a group chunk by chunk. Warm-up of stage s: 2(p-s-1) + (v-1)g forwards (at most mv); then one forward, one backward;
// then the backwards left. The k-th backward is of the k-th forward's microbatch, with chunk v-1-c.
// Where m mod (m div p) = 0 these are PyTorch's rounds (Schedule Interleaved1F1B), else Megatron-LM's longer groups with a shorter last one
// (microbatch_group_size_per_vp_stage), for every m. A size that is given is theirs: groups of just so many, the last one shorter. Bubble (p-1)/(vm+p-1) where m mod p = 0.
//
//   stage 0   F0.0 F1.0 F0.1 F1.1      B0.1 B1.1 B0.0 B1.0      p = 2, m = 2, v = 2
//   stage 1        F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {
extern const Schedule kInterleavedSchedule;
}
