// The planner's answer, and as a file ("meshwright.answer/2"), so that the next window shows the same plans without a search.
#pragma once

#include <string>

#include "planner/search.h"

namespace gui {

struct PlanAnswer {
  planner::SearchResult result;
  sim::Bytes limit{};
  planner::Objective objective = planner::Objective::Step;  // that the plans are ranked by
  planner::WholeTraining whole{};                           // where that is its time; what a question of the window says of it
};
void saveAnswer(const PlanAnswer& answer, const std::string& path);  // the figures that tables show; throws sim::InputError
PlanAnswer loadAnswer(const std::string& path);                      // throws sim::InputError

}  // namespace gui
