// The history of runs as a table.
#pragma once

#include "gui/core/run_record.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table historyTable(const std::vector<RunRecord>& history);  // a row a run, in its order

}  // namespace gui
