// A trace of a real program as tables: what its slices add up to, and one event as it was written. And the owners of recorded
// memory. Used by the Trace and Memory pages.
#pragma once

#include "gui/core/slice_statistics.h"
#include "gui/import/memory_snapshot.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table statisticsTable(const std::vector<SliceStatistics>& statistics, const std::vector<std::string>& names);
Table ownedTable(const std::vector<OwnedMemory>& owned, const std::vector<std::string>& owners, sim::Bytes before);
Table membersTable(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace gui
