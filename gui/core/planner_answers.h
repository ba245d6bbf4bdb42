// What the planner answers of a plan: the settings that are worth changing, the best plan there is, what more memory, network, devices or batch would
// give (shadow prices). Rows of the table of questions. On a worker thread; searches take seconds.
#pragma once

#include "gui/core/answers.h"

namespace gui {

Answer bestChanges(const SimulatedPlan& now, const Asking& asking);  // of one setting, and of two
Answer bestPlans(const SimulatedPlan& now, const Asking& asking);    // of the question that the plan answers
Answer worthOfMore(const SimulatedPlan& now, const Asking& asking);  // each beside the best plan as things are

}  // namespace gui
