// GPipe: every forward, then every backward in ascending microbatch order (so that gradients add up as in the other orders).
// Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism", NeurIPS 2019.
// Bubble (p-1)/(m+p-1) of the step; all m microbatches alive on every stage. One chunk a stage.
// With n slices a sample (TeraPipe, Li et al., ICML 2021) mn pieces pass: bubble (p-1)/(mn+p-1) where they take equally long.
//
//   stage 0   F0 F1 F2 F3          B0 B1 B2 B3      p = 2, m = 4, equal costs
//   stage 1      F0 F1 F2 F3    B0 B1 B2 B3
//
//   stage 0   F0@0 F0@1 F1@0 F1@1                B0@1 B0@0 B1@1 B1@0      p = 2, m = 2, n = 2
//   stage 1        F0@0 F0@1 F1@0 F1@1      B0@1 B0@0 B1@1 B1@0
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {
extern const Schedule kGpipeSchedule;
}
