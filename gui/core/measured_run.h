// A run folder as `meshwright run` leaves it, held against the simulation of its plan. Read on a worker thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/core/simulated_plan.h"
#include "sim/timeline/comparison.h"
#include "sim/timeline/trace.h"

namespace gui {

struct MeasuredRun {
  std::string folder;
  bool calibrated = false;  // simulated with a profile that was fitted to this run
  SharedPlan simulated;     // rank by rank
  std::vector<sim::RankTrace> traces;
  sim::Comparison comparison;
  std::int64_t step = 0;   // the one drawn: the median after warm-up
  sim::Timeline measured;  // of that step
  sim::CriticalPath critical;
  std::vector<sim::IdleTime> idle;  // measured, by rank
  SharedCore core;                  // measured
};
using SharedRun = std::shared_ptr<const MeasuredRun>;

// Throws sim::InputError: no run folder, traces missing or of another plan, no step left after warm-up.
SharedRun loadRun(const std::string& folder, sim::WarmUp warm_up = {}, Progress* progress = nullptr);
// The same run against the simulation of its plan on hardware that was calibrated by it.
SharedRun repriced(const MeasuredRun& run, const sim::HardwareProfile& calibrated, const ProgressPart& part);

}  // namespace gui
