// What the plans of a request are ranked by, as a time that a search can bound, and in the unit of its objective.
//
//   rank of a plan   step: its time.   cost: likewise, as all have as many devices.   energy: the time in which devices at load would draw as much.
//                    time to train: the expected time of a step, failures included
//   measure          rank x weight: 1, devices, devices x power at load, steps; so that a share of one is the same share of the other
//
// A rank is no less for a longer step or for more computing: of bounds on both it is a bound on the rank.
#pragma once

#include <string>

#include "planner/percentile.h"
#include "planner/search.h"
#include "sim/goodput/expected_goodput.h"

namespace planner {

struct StepTime {  // of a plan, or what it surely takes
  sim::SimTime step{};
  sim::SimTime computing{};  // of a device, the mean of all; used where ranks count it
};
StepTime step_time_of(const sim::SimulationResult& result);

bool counts_computing(Objective objective);

// What keeps the request from being ranked by its objective. Empty: it can be.
std::vector<sim::Violation> why_not_ranked(const SearchRequest& request);

class Ranking {
 public:
  explicit Ranking(const SearchRequest& request);  // with no why_not_ranked()

  sim::SimTime of(const StepTime& time, const PlanCandidate& candidate) const;
  sim::SimTime of_step(const StepTime& time) const;  // not robust
  double measure(sim::SimTime rank) const { return weight_ * sim::to_seconds(rank).count(); }
  sim::SimTime rank(double measure) const { return sim::to_sim_time(sim::Seconds(measure / weight_)); }
  std::int64_t checkpoint_interval(sim::SimTime step) const;  // steps; 0: none is needed, or no training is ranked
  std::string text(sim::SimTime rank) const { return measure_text(objective_, measure(rank)); }

 private:
  Objective objective_;
  double idle_share_ = 0;  // of the power at load
  double weight_ = 1;
  std::optional<sim::ExpectedGoodput> goodput_;  // where a training is ranked
  Percentile percentile_;
};

}  // namespace planner
