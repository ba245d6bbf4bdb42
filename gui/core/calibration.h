// Closes the loop: a measured run corrects the profile that it was predicted with, and the planner is asked again with that. The window's
// counterpart of `meshwright calibrate` followed by `meshwright plan`.
#pragma once

#include "gui/core/measured_run.h"
#include "gui/core/plan_question.h"

namespace gui {

struct Calibration {
  SharedRun run;      // against the corrected simulation
  double before = 0;  // error of the step, as sim::ErrorRow has it
  PlanQuestion next;  // what the run's plan answered, on the corrected hardware
};
// Writes <run folder>/calibrated.json. Throws sim::InputError.
Calibration calibrateBy(const MeasuredRun& run, Progress* progress = nullptr);

}  // namespace gui
