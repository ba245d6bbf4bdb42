// The closed form's answer as tables: the layouts, what one of them is made of, and what was assumed of everything that nobody stated.
// Used by the Plan page.
#pragma once

#include "gui/core/estimate.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table layoutsTable(const Estimate& estimate, std::optional<std::size_t> shown = {});  // row = position; those on the Pareto front in bold
Table partsTable(const planner::EstimatedLayout& layout);
Table assumptionsTable(const Estimate& estimate, const planner::EstimatedLayout& layout);
sim::Bytes memoryOf(const planner::EstimatedLayout& layout);
QString intervalText(const planner::EstimatedLayout& layout);  // "512 ms to 889 ms"

}  // namespace gui
