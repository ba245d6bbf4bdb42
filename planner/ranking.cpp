#include "planner/ranking.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/longest_step.h"
#include "sim/units/unit_text.h"

namespace planner {

StepTime step_time_of(const sim::SimulationResult& result) {
  std::int64_t ranks = 0;
  sim::SimTime computing{};
  for (const sim::DeviceResult& device : result.devices) {
    ranks += device.multiplicity;
    computing += device.busy * device.multiplicity;
  }
  return {.step = result.step_time, .computing = ranks > 0 ? computing / ranks : sim::SimTime{}};
}

bool counts_computing(Objective objective) { return objective == Objective::Energy; }

namespace {

std::vector<sim::Violation> why_no_energy(const SearchRequest& request) {
  const sim::HardwareProfile& hardware = request.cluster.hardware;
  if (hardware.power) return {};
  return {{"--objective", fmt::format("is energy, and the profile {} does not say what a device draws", hardware.name),
           "add a block \"power\" to it: {\"load\": \"700 W\", \"idle\": \"145 W\", \"source\": \"...\"}, or rank by step or cost"}};
}

constexpr sim::Seconds kShortestStep(1e-6);

// Whatever a step took: failures come before a restart has ended.
bool never_ends(const SearchRequest& request) {
  const sim::ExpectedGoodput expected(request.whole.reliability, request.cluster.devices);
  return is_too_long(expected.step(kShortestStep).count() * 1e12);
}

std::vector<sim::Violation> why_no_training(const SearchRequest& request) {
  std::vector<sim::Violation> found;
  const std::int32_t nodes = request.cluster.nodes(), spares = request.whole.most_spares;
  const sim::Reliability& rates = request.whole.reliability;
  if (never_ends(request))
    found.push_back(
        {"--mtbf",
         fmt::format("lets one of {} devices fail every {}, and a restart takes {}: no training ends", request.cluster.devices,
                     sim::duration_text(rates.mean_time_between_failures / request.cluster.devices), sim::duration_text(rates.restart)),
         "give the mean time of one device, as \"5.8 y\", or a shorter --restart-time"});
  if (request.whole.steps < 1)
    found.push_back({"--objective", "is time-to-train, and nothing says how long it is", "add --tokens or --steps"});
  if (spares > 0 && spares >= nodes)
    found.push_back({"--spares", fmt::format("is {} of {} nodes: none is left to train", spares, nodes), "hold fewer back"});
  if (spares > 0 && request.whole.reliability.repair.count() <= 0)
    found.push_back({"--spares", "gains nothing where a failed node is back at once", "add --repair-time"});
  return found;
}

}  // namespace

std::vector<sim::Violation> why_not_ranked(const SearchRequest& request) {
  if (!request.cluster.groups.empty())
    return {{"--cluster", "gives its groups shares of a batch, and plans are searched for equal ones",
             "leave share out; then simulate the plan that is found on the cluster with its shares"}};
  if (request.objective == Objective::Energy) return why_no_energy(request);
  if (request.objective == Objective::TimeToTrain) return why_no_training(request);
  if (request.whole.most_spares > 0) return {{"--spares", "counts for a whole training alone", "add --objective time-to-train"}};
  return {};
}

Ranking::Ranking(const SearchRequest& request) : objective_(request.objective), percentile_(request) {
  const std::int32_t devices = request.cluster.devices;
  if (objective_ == Objective::Cost) weight_ = devices;
  if (objective_ == Objective::Energy) {
    const sim::DevicePower& power = *request.cluster.hardware.power;
    idle_share_ = power.idle / power.load;
    weight_ = energy(power, sim::Seconds(1), sim::Seconds(1)).value() * devices;
  }
  if (objective_ == Objective::TimeToTrain) {
    goodput_.emplace(request.whole.reliability, devices);
    weight_ = static_cast<double>(request.whole.steps);
  }
}

sim::SimTime Ranking::of_step(const StepTime& time) const {
  if (goodput_) return clamped(goodput_->step(sim::to_seconds(time.step)).count() * 1e12);
  if (!counts_computing(objective_)) return time.step;
  return clamped(idle_share_ * picoseconds(time.step) + (1 - idle_share_) * picoseconds(time.computing));
}

sim::SimTime Ranking::of(const StepTime& time, const PlanCandidate& candidate) const {
  return of_step({.step = percentile_.of(time.step, candidate), .computing = percentile_.of(time.computing, candidate)});
}

std::int64_t Ranking::checkpoint_interval(sim::SimTime step) const { return goodput_ ? goodput_->interval(sim::to_seconds(step)) : 0; }

}  // namespace planner
