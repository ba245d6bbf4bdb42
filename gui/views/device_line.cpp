#include "gui/views/device_line.h"

#include <algorithm>
#include <utility>

#include "sim/units/at.h"

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
  line.assign(sim::count_of(axis_.width().value), background_);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    core_.visit(*row, axis_,
                [&](const Run& run) { std::fill(line.begin() + run.left, line.begin() + run.right, color_(core_.row(*row), run)); });
  return line;
}

std::vector<std::uint32_t> DeviceLines::mean(std::span<const DeviceRows* const> devices) {
  constexpr std::size_t kChannels = 3;
  const auto width = sim::count_of(axis_.width().value);
  std::map<const std::vector<std::uint32_t>*, std::uint32_t> distinct;
  for (const DeviceRows* device : devices) ++distinct[&line(*device)];
  if (distinct.size() == 1) return *distinct.begin()->first;
  std::vector<std::uint32_t> sum(kChannels * width), mean(width, 0xff000000);
  for (const auto& [line, times] : distinct)
    for (std::size_t at = 0; at < sum.size(); ++at) sum[at] += times * ((*line)[at / kChannels] >> 8 * (at % kChannels) & 255);
  for (std::size_t at = 0; at < sum.size(); ++at)
    mean[at / kChannels] |= sum[at] / static_cast<std::uint32_t>(devices.size()) << 8 * (at % kChannels);
  return mean;
}

}  // namespace gui
