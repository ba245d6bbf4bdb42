// Simulated against measured as tables: errors by kind and stage, shares, and what has no partner. Used by the Compare page.
#pragma once

#include "gui/models/table_item_model.h"
#include "sim/timeline/comparison.h"

namespace gui {

Table errorsTable(const sim::Comparison& comparison);  // the step first, in bold
Table sharesTable(const sim::Comparison& comparison);
Table unmatchedTable(const sim::Comparison& comparison);

}  // namespace gui
