// A device of a timeline as one line of colors: what it does at each moment, its first row (what it computes) over the others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "gui/core/timeline_core.h"

namespace gui {

using DeviceRows = std::vector<RowIndex>;
std::vector<DeviceRows> rowsByDevice(const TimelineCore& core);  // top to bottom; rows that repeat others are of none

// Lines of one picture: devices that do the same share their slices, and are drawn once.
class DeviceLines {
 public:
  using ColorOf = std::function<std::uint32_t(const SliceRow& row, const Run& run)>;
  DeviceLines(const TimelineCore& core, const TimeAxis& axis, ColorOf color, std::uint32_t background);
  const std::vector<std::uint32_t>& line(const DeviceRows& rows);
  // Of several devices: of each pixel the mean of their colors, so that what few of them do is faint.
  std::vector<std::uint32_t> mean(std::span<const DeviceRows* const> devices);
  void forget() { drawn_.clear(); }  // where the color depends on the device, too

 private:
  const TimelineCore& core_;
  const TimeAxis& axis_;
  ColorOf color_;
  std::uint32_t background_;
  std::map<std::vector<const SliceColumns*>, std::vector<std::uint32_t>> drawn_;
};

}  // namespace gui
