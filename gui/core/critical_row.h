// The critical path as a row of the timeline, above the devices it runs through.
#pragma once

#include "gui/core/timeline_core.h"
#include "sim/timeline/critical_path.h"

namespace gui {

SliceRow criticalRow(const sim::Timeline& timeline, const sim::CriticalPath& path);
SharedCore coreWithPath(const sim::Timeline& timeline, const sim::CriticalPath& path);  // the path above the devices

}  // namespace gui
