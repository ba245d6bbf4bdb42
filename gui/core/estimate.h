// The closed form's answer to a planning question: layouts with the interval of each, none of them simulated. Also for models that cannot be
// simulated, and there long before the planner's answer. Runs on a worker thread. Used by the Plan page.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "gui/core/plan_question.h"
#include "planner/layouts.h"

namespace gui {

struct Estimate {
  PlanQuestion question;
  planner::LayoutRequest request;
  planner::LayoutResult result;
  std::vector<bool> on_front;  // of the ranked: no other is both faster and smaller
};
using SharedEstimate = std::shared_ptr<const Estimate>;

// A ranked layout as a plan, which can be simulated, turned and run. Throws sim::InputError with all that plans cannot say.
sim::ParallelPlan planOf(const Estimate& estimate, std::size_t position);
// The ranked layout that the plan has, for the same question; none where it has another.
std::optional<std::size_t> layoutOf(const Estimate& estimate, const sim::ParallelPlan& plan);

SharedEstimate estimateOf(const PlanQuestion& question);  // reads the files; throws sim::InputError
void requireModel(const std::string& path);               // a config that can be simulated or estimated; throws sim::InputError

}  // namespace gui
