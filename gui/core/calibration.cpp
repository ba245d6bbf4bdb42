#include "gui/core/calibration.h"

#include "sim/calibration/calibrate.h"

namespace gui {

Calibration calibrateBy(const MeasuredRun& run, Progress* progress) {
  constexpr double kFitted = 0.4;  // of the time
  const Watched known(progress);
  const sim::ParallelPlan& plan = run.simulated->plan;
  sim::CalibrationRun measured{.plan = plan, .traces = run.traces, .files = {}};
  for (const sim::RankTrace& trace : run.traces) measured.files.push_back(run.folder + '/' + sim::trace_file_name(trace.rank));
  const sim::HardwareProfile profile = sim::calibrate(plan.cluster.hardware, {measured});
  ProgressPart{known, 0, kFitted}({.done = 1, .all = 1});
  const std::string file = run.folder + "/calibrated.json";
  sim::save_hardware_profile(profile, file);
  return {.run = repriced(run, profile, {known, kFitted, 1}),
          .before = run.comparison.step.error(),
          .next = {.model = run.folder + "/plan.json",
                   .cluster = file,
                   .devices = plan.mesh.ranks(),
                   .global_batch = plan.workload.global_batch,
                   .sequence = plan.workload.sequence,
                   .program = sim::why_not_runnable(plan).empty() ? kWorker : ""}};
}

}  // namespace gui
