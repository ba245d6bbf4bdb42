#include "planner/percentile.h"

#include <cmath>

#include "sim/cost/prediction_interval.h"

namespace planner {

// Four of five lie within the interval, half of the others above it.
Percentile::Percentile(const SearchRequest& request) {
  if (!request.robust) return;
  for (const bool context : {false, true})
    for (const bool host : {false, true}) {
      sim::ParallelPlan plan = make_plan(request, {});
      plan.mesh.context = context ? 2 : 1;
      plan.offload_optimizer = host;
      const sim::PredictionInterval interval = sim::prediction_interval(plan);
      wider_[context][host] = std::hypot(interval.half_width, interval.late);
    }
}

sim::SimTime Percentile::of(sim::SimTime predicted, const PlanCandidate& candidate) const {
  const double wider = wider_[candidate.mesh.context > 1][candidate.offload_optimizer || candidate.offload_activations];
  return predicted + sim::SimTime(static_cast<std::int64_t>(static_cast<double>(predicted.count()) * wider));
}

}  // namespace planner
