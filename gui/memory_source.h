// What the Memory page shows, whether it was planned or recorded: devices, a picture of each, what is alive on it at a moment.
#pragma once

#include <QStringList>
#include <functional>

#include "gui/core/simulated_plan.h"
#include "gui/import/memory_snapshot.h"
#include "gui/models/table_item_model.h"
#include "gui/views/memory_view.h"

namespace gui {

struct MemorySource {
  QStringList devices;
  std::function<MemoryPicture(int device)> picture;
  std::function<Table(int device, sim::SimTime time)> alive;
  QString note{};  // what was left out
};
MemorySource memoryOfPlan(const SharedPlan& plan);
MemorySource memoryOfSnapshot(const SharedSnapshot& snapshot);

}  // namespace gui
