// What the Timeline page draws of a simulated step: rows, counters, flows, numbered by what is shown. Of the devices that were simulated, or
// of every rank by itself, which shares their slices and costs a row instead of a simulation.
#pragma once

#include "gui/core/counter.h"
#include "gui/core/flows.h"
#include "gui/core/timeline_core.h"
#include "gui/core/unfolding.h"

namespace gui {

struct StepPicture {
  Unfolding devices;
  SharedCore core;  // the critical path on top
  std::vector<Flow> flows;
  std::vector<CounterRow> counters;  // by device
};

// `classes`: of the folded timeline. Receivers have the mesh coordinate of their sender, but for the stage.
StepPicture everyRank(const StepPicture& classes, Unfolding ranks, const sim::DeviceMesh& mesh);

}  // namespace gui
