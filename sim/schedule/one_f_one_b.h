// One-forward-one-backward pipeline order (PipeDream-Flush).
// Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training", ICML 2021.
// Bubble (p-1)/(m+p-1) of the step; at most min(m, p-s) microbatches alive on stage s. Fewer microbatches than stages are fine:
// a stage then warms up with all of them. One chunk a stage.
//
//   stage 0   F0 F1    B0 F2 B1 F3 B2    B3      p = 2, m = 4, equal costs
//   stage 1      F0 B0 F1 B1 F2 B2 F3 B3
//
// With n slices a sample its last slice goes backward first: a stage warms up with p-s-1 + n-1 of mn pieces, and holds one more at most.
// Sun et al., "Seq1F1B: Efficient Sequence-Level Pipeline Parallelism for Large Language Model Training", 2024 (arXiv 2406.03488).
//
//   stage 0   F0@0 F0@1 F1@0      B0@1 F1@1 B0@0      B1@1 B1@0      p = 2, m = 2, n = 2, equal costs
//   stage 1        F0@0 F0@1 B0@1 F1@0 B0@0 F1@1 B1@1 B1@0
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {
extern const Schedule kOneFOneBSchedule;
}
