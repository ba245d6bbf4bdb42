// Measured timelines + hardware profile -> a new hardware profile whose corrections make prices meet measurements,
// and which names the traces it came from.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware_profile.h"
#include "sim/plan/parallel_plan.h"
#include "sim/timeline/trace.h"

namespace sim {

struct CalibrationRun {
  ParallelPlan plan;  // as it ran
  std::vector<RankTrace> traces;
  std::vector<std::string> files;
};

// Per task kind: factor = median over ranks, steps and keys of measured duration / priced duration (of `base`, uncorrected). Waiting is
// not fitted: of a collective only its shortest span over the group counts, of a receive only what follows its send. A first step of
// several is a warm-up. The same traces give the same profile again. Throws InputError for traces that are not of their plan.
HardwareProfile calibrate(const HardwareProfile& base, const std::vector<CalibrationRun>& runs);

}  // namespace sim
