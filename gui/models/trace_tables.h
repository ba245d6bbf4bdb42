// A trace of a real program as tables: what its slices add up to, and one event as it was written. Used by the Trace page.
#pragma once

#include "gui/core/slice_statistics.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table statisticsTable(const std::vector<SliceStatistics>& statistics, const std::vector<std::string>& names);
Table membersTable(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace gui
