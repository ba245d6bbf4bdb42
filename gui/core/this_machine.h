// What this machine has for a run, and whether a plan is more than that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/plan/parallel_plan.h"

namespace gui {

struct Machine {
  std::int32_t cores = 1, gpus = 0;
};
Machine thisMachine();

// A rank has a GPU, or a quarter of a core: enough to try a plan out. Empty: it can be started here.
std::optional<std::string> whyNotHere(const sim::ParallelPlan& plan, const Machine& machine);

}  // namespace gui
