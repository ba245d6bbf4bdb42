#include "gui/core/critical_row.h"

namespace gui {

SliceRow criticalRow(const sim::Timeline& timeline, const sim::CriticalPath& path) {
  SliceRow row;
  row.device = "critical path";
  row.opens_device = true;
  row.repeats = true;
  for (const sim::CriticalLink& link : path.links) {
    if (link.end <= link.begin) continue;
    row.slices->start.push_back(link.begin.count());
    row.slices->end.push_back(link.end.count());
    row.slices->kind.push_back(kindOf(timeline.spans[link.span].key));
    row.slices->span.push_back(link.span);
  }
  return row;
}

SharedCore coreWithPath(const sim::Timeline& timeline, const sim::CriticalPath& path) {
  auto core = std::make_shared<TimelineCore>(timeline);
  core->setTopRow(criticalRow(timeline, path));
  return core;
}

}  // namespace gui
