// A trace of a real program as tables: what its slices add up to, and one event as it was written. And the owners of recorded
// memory.
#pragma once

#include "gui/core/busy_time.h"
#include "gui/core/slice_statistics.h"
#include "gui/import/memory_snapshot.h"
#include "gui/models/table_item_model.h"

namespace gui {

enum class Nesting : std::uint8_t { Flat, Nested };  // Nested: slices lie in others, and have a time of their own
std::string spokenName(const std::string& name);     // of a kernel: without what it returns
Table statisticsTable(const std::vector<SliceStatistics>& statistics, const std::vector<std::string>& names,
                      Nesting nesting = Nesting::Flat);
Table busyTable(const std::vector<BusyTime>& times);
Table ownedTable(const std::vector<OwnedMemory>& owned, const std::vector<std::string>& owners, sim::Bytes before);
// Times and amounts with their unit, also where the file has none.
Table membersTable(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace gui
