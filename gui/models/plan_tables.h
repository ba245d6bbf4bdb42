// One simulated plan as tables: its figures, what a slice is, what is alive at a moment.
#pragma once

#include "gui/core/alive.h"
#include "gui/core/slice_figures.h"
#include "gui/models/table_item_model.h"

namespace gui {

Table figuresTable(const SimulatedPlan& simulated);
Table sliceTable(const SimulatedPlan& simulated, std::uint32_t position);  // of a span of its timeline
Table aliveTable(const std::vector<AliveItem>& items);
Table tensorsTable(const std::vector<AliveTensors>& tensors, sim::LayerIndex head);  // head: its layer
QString categoryName(sim::MemoryCategory category);

}  // namespace gui
