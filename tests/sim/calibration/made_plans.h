// Plans with a described device and a program, for the tests of learning; and what their steps take at other constants.
#pragma once

#include "tests/sim/validation/rows.h"

namespace sim {

inline ParallelPlan row_plan(std::int64_t micro_batch, std::int64_t tensor = 1) {
  return describe(patched(valid_row(), {{"plan", {{"micro_batch", micro_batch}, {"tp", tensor}, {"dp", 8 / tensor}}}})).plan;
}

}  // namespace sim
