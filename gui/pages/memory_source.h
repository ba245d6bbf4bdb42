// What the Memory page shows, whether it was planned or recorded: devices, a picture of each, what is alive on it at a moment.
#pragma once

#include <QStringList>
#include <functional>

#include "gui/core/measured_run.h"
#include "gui/import/memory_snapshot.h"
#include "gui/models/table_item_model.h"
#include "gui/views/memory_view.h"

namespace gui {

struct MemorySource {
  QStringList devices;
  std::function<MemoryPicture(int device)> picture;
  std::function<Table(int device, sim::SimTime time)> alive;
  std::function<Table(int device, sim::SimTime time)> by_layer{};  // and kind of tensor; empty: not known
  std::function<std::vector<MemoryStripe>(int device)> stripes{};  // of layers; empty: not known
  QString note{};                                                  // what was left out
};
struct MeasuredMemory {  // to hold a plan against
  QString name{};
  std::function<MemoryCurve(sim::Rank rank)> curve{};  // may be empty
  double error = 0;                                    // of the planned peak, where it is known
};
MeasuredMemory measuredBy(const SharedRun& run);  // the allocator's peak of the step drawn, as a level
MeasuredMemory measuredBy(const SharedSnapshot& snapshot);

MemorySource memoryOfPlan(const SharedPlan& plan, const MeasuredMemory& measured = {});
MemorySource memoryOfSnapshot(const SharedSnapshot& snapshot);

}  // namespace gui
