// The planner's answer as tables: candidates, and the families that are out.
#pragma once

#include "gui/core/candidates.h"
#include "gui/core/last_answer.h"
#include "gui/models/table_item_model.h"

namespace gui {

// Row = position; those on the Pareto front in bold. A column a setting that two of the plans differ in; where that is how many devices, what a
// billion tokens take of their time; of a whole training how long it may take, and what comes of it.
Table candidatesTable(const std::vector<Candidate>& candidates, planner::Objective ranked_by = planner::Objective::Step,
                      const planner::WholeTraining& whole = {});
QString commonSettings(const std::vector<Candidate>& candidates);  // the other settings, where there is something to say
QString tieText(const PlanAnswer& answer);       // which plans are as good as the first, for all that is known; else empty
QString provenText(const PlanAnswer& answer);    // how much better than the first any plan can be; empty: nothing is proven
QString trainingText(const PlanAnswer& answer);  // of the whole training with the first plan; empty: none is ranked
QString searchText(const PlanAnswer& answer);    // how many plans there are, and what became of them
Table exclusionsTable(const std::vector<planner::Exclusion>& excluded);

}  // namespace gui
