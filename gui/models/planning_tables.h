// The planner's answer as tables: candidates, and the families that are out. Used by the Plan page.
#pragma once

#include "gui/core/candidates.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table candidatesTable(const std::vector<Candidate>& candidates);  // row = position; those on the Pareto front in bold
Table exclusionsTable(const std::vector<planner::Exclusion>& excluded);

}  // namespace gui
