// A plan together with all that its pictures need: graph, figures, timeline. Made on a worker thread, then shared and only read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/core/cluster_load.h"
#include "gui/core/progress.h"
#include "gui/core/step_picture.h"
#include "sim/engine/simulate.h"
#include "sim/plan/parallel_plan.h"
#include "sim/timeline/bubble.h"
#include "sim/timeline/critical_path.h"

namespace gui {

struct SimulatedPlan {
  sim::ParallelPlan plan;
  sim::ModelGraph model;
  sim::TaskGraph graph;
  sim::SimulationResult result;  // with its timeline
  sim::CriticalPath critical;
  std::vector<sim::IdleTime> idle;  // by device
  ClusterLoad load;
  StepPicture picture;                    // of the graph's devices
  std::optional<StepPicture> every_rank;  // where that was asked for and the graph is folded

  const StepPicture& shown() const { return every_rank ? *every_rank : picture; }
  const sim::Span& shownSpan(std::uint32_t number) const {
    return result.timeline.spans[shown().devices.positionOf(number)];
  }  // its device: the class
};
using SharedPlan = std::shared_ptr<const SimulatedPlan>;

// Folded: a device a class of ranks. OneByOne: each rank shows its class, or is simulated where ranks of a class may differ. Simulated: each is.
enum class Ranks { Folded, OneByOne, Simulated };

// Throws sim::InputError with every rule that the plan breaks. Null: cancelled, which is looked at between its parts.
SharedPlan simulatePlan(const sim::ParallelPlan& plan, Ranks ranks = Ranks::Folded, Progress* progress = nullptr);
bool foldsExactly(const sim::ParallelPlan& plan);  // ranks of a class do the same at the same time: they fill the nodes evenly

// "data 4 x tensor 2 x pipeline 2, 1f1b, 8 microbatches of 1, zero 0, recompute none"
sim::ParallelPlan withPredictions(const SimulatedPlan& simulated);  // as its file is written
std::string summaryOf(const sim::ParallelPlan& plan);

}  // namespace gui
