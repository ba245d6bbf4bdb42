// Two steps held against each other: the sides, their pairing, and what a comparison is drawn and told from. Any two: a run and its
// simulation, two runs, a plan and another. Made on the window's thread from what is in memory; shared and only read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gui/core/counter.h"
#include "gui/core/measured_run.h"
#include "gui/core/pairing.h"
#include "gui/core/trace_join.h"

namespace gui {

struct ComparedSide {
  std::string name;         // "runs/a: measured, step 12"
  SharedPlan plan;          // whose graph its ranks follow
  SharedRun run;            // where it is of one; else null
  bool measured = false;    // the run's step, else the plan's simulation
  SharedTraceStep trace{};  // of another program, where it is one; else null
  SharedCore core() const { return trace ? trace->core : measured ? run->core : plan->picture.core; }
  const sim::Timeline& timeline() const { return trace ? trace->timeline : measured ? run->measured : plan->result.timeline; }
  sim::Seconds length() const { return sim::to_seconds(trace ? trace->length : core()->range().length()); }
  bool isOfRun() const { return measured && run != nullptr; }
  sim::IdleTime idle() const;  // mean of the ranks
};
ComparedSide tracedSide(const SharedTraceStep& trace, const SharedPlan& plan);
ComparedSide simulatedSide(const SharedPlan& plan);
std::vector<ComparedSide> sidesOf(const SharedRun& run);  // its simulation, then what was measured

struct ComparedSteps {
  ComparedSteps(ComparedSide left_side, ComparedSide right_side);
  const sim::Comparison* wholeRun() const;  // of all its steps, where one run is held against its simulation; else null
  ComparedSide left, right;
  Pairing pairing;
};
using SharedComparison = std::shared_ptr<const ComparedSteps>;

double ratioOf(const ComparedSteps& steps, const Pair& pair);  // duration on the right / on the left

// Left and right of each stream under each other; spans of the right are numbered behind those of the left.
SharedCore overlaid(const ComparedSteps& steps);
// The right step, each task colored by how long it takes there against the left one.
SharedCore differences(const ComparedSteps& steps);
std::vector<CounterRow> lags(const ComparedSteps& steps);  // by right device: how much later each task ends there

}  // namespace gui
