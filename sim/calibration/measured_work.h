// How long tasks of a run really took, without the waiting that their spans contain.
//
//   collective   the shortest span over the group: its last member waits for nobody
//   receive      from the later of its own start and its send's end; ranks are aligned by the end of the step's sum over all of them
//   the rest     the span
//
// Of our worker on GPUs, an exchange beside weight gradients (exchanges_beside_weights) has them in its span, and the task in front of it, which is priced with
// them, has not: the two are one piece of work.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/trace.h"

namespace sim {

struct MeasuredWork {
  TaskKey key;
  SimTime duration{};
  std::optional<TaskKey> with = {};  // the exchange whose span is part of the duration
};

// Of all ranks and steps; the first step is a warm-up where there are several.
std::vector<MeasuredWork> measured_work(const ParallelPlan& plan, const std::vector<RankTrace>& traces);

}  // namespace sim
