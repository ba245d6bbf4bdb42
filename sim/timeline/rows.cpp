#include "sim/timeline/rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim {
namespace {

bool one_device_a_stage(const std::vector<GraphDevice>& devices) {
  for (std::size_t at = 0; at < devices.size(); ++at)
    for (std::size_t other = at + 1; other < devices.size(); ++other)
      if (devices[at].stage == devices[other].stage) return false;
  return true;
}

}  // namespace

std::vector<DeviceRow> device_rows(const Timeline& timeline) {
  std::vector<DeviceRow> rows;
  const bool by_stage = one_device_a_stage(timeline.devices);
  std::size_t width = 0;
  auto at = timeline.spans.begin();
  for (DeviceId device(0); device.position() < timeline.devices.size(); ++device) {
    const GraphDevice& known = timeline.devices[device.position()];
    const auto end = std::find_if(at, timeline.spans.end(), [&](const Span& span) { return span.device != device; });
    rows.push_back(
        {by_stage ? fmt::format("stage {}", known.stage.value()) : fmt::format("rank {}", known.representative.value()), {at, end}});
    width = std::max(width, rows.back().label.size());
    at = end;
  }
  for (DeviceRow& row : rows) row.label.resize(width, ' ');
  return rows;
}

}  // namespace sim
