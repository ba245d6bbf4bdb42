#include "planner/outlook.h"

#include <algorithm>

#include "sim/cost/prediction_interval.h"
#include "sim/goodput/expected_goodput.h"

namespace planner {

std::int32_t spares_beside(const SearchRequest& request, std::int32_t devices) {
  return std::min(request.whole.most_spares, (request.cluster.devices - devices) / request.cluster.devices_per_node());
}

Outlook outlook_of(const SearchRequest& request, const RankedPlan& plan) {
  WholeTraining whole = request.whole;
  whole.reliability.spares = spares_beside(request, plan.plan.cluster.devices);
  return outlook_of(whole, plan);
}

Outlook outlook_of(const WholeTraining& whole, const RankedPlan& plan) {
  const std::int32_t devices = plan.plan.cluster.devices;
  const sim::Reliability& reliability = whole.reliability;
  const sim::ExpectedGoodput expected(reliability, devices);
  const sim::Seconds step = sim::to_seconds(plan.result.step_time);
  const auto steps = static_cast<double>(whole.steps);
  const sim::PredictionInterval interval = sim::prediction_interval(plan.plan);
  Outlook outlook{.time = expected.step(step) * steps,
                  .low = expected.step(interval.low(step)) * steps,
                  .high = expected.step(interval.high(step)) * steps,
                  .waiting = expected.waiting(),
                  .checkpoint_interval = expected.interval(step),
                  .save = reliability.save,
                  .spares = reliability.spares};
  outlook.goodput = step * steps / outlook.time;
  const double gap = reliability.mean_time_between_failures.count() / devices;
  if (gap > 0) outlook.failures = outlook.time.count() * (1 - outlook.waiting) / gap;
  return outlook;
}

}  // namespace planner
