// The whole training that a plan is the step of: how long it takes in expectation, and what comes of it. Of Objective::TimeToTrain.
#pragma once

#include "planner/search.h"

namespace planner {

struct Outlook {
  sim::Seconds time{};                   // to train
  sim::Seconds low{}, high{};            // with the ends of the step's interval, which holds four of five measured steps
  double goodput = 0;                    // steps x step / time
  double failures = 0;                   // while it runs
  double waiting = 0;                    // share of the time, for repairs
  std::int64_t checkpoint_interval = 0;  // steps; 0: none is needed
  sim::Seconds save{};                   // of each
  std::int32_t spares = 0;               // nodes
};
Outlook outlook_of(const WholeTraining& whole, const RankedPlan& plan);    // with the spares that its reliability says
Outlook outlook_of(const SearchRequest& request, const RankedPlan& plan);  // of a plan found for it, with those beside it

// Nodes that a plan of so many devices leaves, up to those that may be held back.
std::int32_t spares_beside(const SearchRequest& request, std::int32_t devices);

}  // namespace planner
