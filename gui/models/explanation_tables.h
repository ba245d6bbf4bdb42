// Why a step takes as long as it does, as tables: idle time by cause, the critical path by kind and link by link.
#pragma once

#include "gui/core/compared_steps.h"
#include "gui/models/table_item_model.h"

namespace gui {

using TaskNames = QString (*)(const sim::TaskKey& key);  // as slices are named

QString causeName(sim::IdleCause cause);
Table bubbleTable(const SimulatedPlan& simulated);                         // all ranks first, in bold; then each device
Table criticalKindsTable(const SimulatedPlan& simulated);                  // adds up to the step
Table criticalLinksTable(const SimulatedPlan& simulated, TaskNames name);  // row = position in the path
// Row = position; the first ten thousand.
Table foundTable(const SimulatedPlan& simulated, const std::vector<std::uint32_t>& spans, TaskNames name);

// Where the step's time goes on either side, mean of the ranks: the differences add up to the difference of the steps.
Table gapTable(const ComparedSteps& steps);

}  // namespace gui
