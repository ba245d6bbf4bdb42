// One-forward-one-backward pipeline order (PipeDream-Flush).
// Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training", ICML 2021.
// Bubble (p-1)/(m+p-1) of the step; at most min(m, p-s) microbatches alive on stage s. Fewer microbatches than stages are fine:
// a stage then warms up with all of them. One chunk a stage.
//
//   stage 0   F0 F1    B0 F2 B1 F3 B2    B3      p = 2, m = 4, equal costs
//   stage 1      F0 B0 F1 B1 F2 B2 F3 B3
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {
extern const Schedule kOneFOneBSchedule;
}
