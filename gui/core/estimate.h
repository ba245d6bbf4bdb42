// The closed form's answer to a planning question: layouts with the interval of each, none of them simulated. Also for models that cannot be
// simulated, and there long before the planner's answer. Runs on a worker thread. Used by the Plan page.
#pragma once

#include <memory>

#include "gui/core/plan_question.h"
#include "planner/layouts.h"

namespace gui {

struct Estimate {
  planner::LayoutRequest request;
  planner::LayoutResult result;
  std::vector<bool> on_front;  // of the ranked: no other is both faster and smaller
};
using SharedEstimate = std::shared_ptr<const Estimate>;

SharedEstimate estimateOf(const PlanQuestion& question);  // reads the files; throws sim::InputError
void requireModel(const std::string& path);               // a config that can be simulated or estimated; throws sim::InputError

}  // namespace gui
