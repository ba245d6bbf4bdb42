// One simulated plan as tables: its figures, what a slice is, what is alive at a moment. Used by the Timeline and Memory pages.
#pragma once

#include "gui/core/alive.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table figuresTable(const SimulatedPlan& simulated);
Table sliceTable(const sim::Span& span, sim::SimTime slack);
Table aliveTable(const std::vector<AliveItem>& items);
QString categoryName(sim::MemoryCategory category);

}  // namespace gui
