// How many (microbatch, chunk) units are alive at once on a stage: forward done, what frees it not yet.
#pragma once

#include <algorithm>
#include <span>

#include "sim/schedule/schedule.h"

namespace sim::testing {

inline std::int32_t peak_in_flight(std::span<const StageAction> order) {
  const bool splits = std::any_of(order.begin(), order.end(), [](const StageAction& action) { return action.kind == ActionKind::Weight; });
  const ActionKind frees = splits ? ActionKind::Weight : ActionKind::Backward;
  std::int32_t alive = 0, peak = 0;
  for (const StageAction& action : order) {
    alive += action.kind == ActionKind::Forward ? 1 : action.kind == frees ? -1 : 0;
    peak = std::max(peak, alive);
  }
  return peak;
}

}  // namespace sim::testing
