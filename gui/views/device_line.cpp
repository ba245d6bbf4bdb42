#include "gui/views/device_line.h"

#include <algorithm>
#include <utility>

namespace gui {

std::vector<DeviceRows> rowsByDevice(const TimelineCore& core) {
  std::vector<DeviceRows> devices;
  for (RowIndex row{0}; row.value < core.rows().size(); ++row.value) {
    if (core.row(row).repeats) continue;
    if (core.row(row).opens_device || devices.empty()) devices.emplace_back();
    devices.back().push_back(row);
  }
  return devices;
}

DeviceLines::DeviceLines(const TimelineCore& core, const TimeAxis& axis, ColorOf color, std::uint32_t background)
    : core_(core), axis_(axis), color_(std::move(color)), background_(background) {}

const std::vector<std::uint32_t>& DeviceLines::line(const DeviceRows& rows) {
  std::vector<const SliceColumns*> slices;
  for (const RowIndex row : rows) slices.push_back(core_.row(row).slices.get());
  const auto [known, is_new] = drawn_.try_emplace(std::move(slices));
  std::vector<std::uint32_t>& line = known->second;
  if (!is_new) return line;
  line.assign(static_cast<std::size_t>(axis_.width().value), background_);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    core_.visit(*row, axis_,
                [&](const Run& run) { std::fill(line.begin() + run.left, line.begin() + run.right, color_(core_.row(*row), run)); });
  return line;
}

}  // namespace gui
