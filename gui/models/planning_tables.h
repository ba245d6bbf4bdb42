// The planner's answer as tables: candidates, and the families that are out.
#pragma once

#include "gui/core/candidates.h"
#include "gui/models/table_item_model.h"

namespace gui {

// Row = position; those on the Pareto front in bold. A column a setting that two of the plans differ in.
Table candidatesTable(const std::vector<Candidate>& candidates);
QString commonSettings(const std::vector<Candidate>& candidates);  // the other settings, where there is something to say
QString tieText(const std::vector<planner::RankedPlan>& ranked);  // which plans are as good as the first, for all that is known; else empty
QString searchText(const planner::SearchResult& result);          // how many plans there are, and what became of them
Table exclusionsTable(const std::vector<planner::Exclusion>& excluded);

}  // namespace gui
