// DualPipe folded in half: each stage holds the first and the last chunk of a V, and in the steady state each forward of one chunk stands behind a
// backward of the other, so that the two can run together (expert_overlap). Where a stage has nothing to put beside a backward, its weights' gradients
// wait, as in zero bubble: they are their own action throughout, right behind the backward where they do not wait.
// DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024 (DualPipe); its halves are alike, and one of them will do: Qi et al., "DualPipe could be better
// without the Dual", 2025.
//
//   p = 2, m = 4, stage 0    F0 F1 F2 F0' B0' F1' | B1' F3 | B0 F2' | B2' | B1 F3' | B3' B2 B3      F': of the second chunk; W behind each B
//
// Memory: 2 p chunks in flight, half of a stage's layers each, as 1f1b's first stage has; one more on the last stage.
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {
extern const Schedule kDualPipeVSchedule;
}
