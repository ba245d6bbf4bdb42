// Colors of slices by their names: the names that take most time by themselves have a color each, of Paul Tol's muted scheme; the others share one.
// Where a trace has a device, names of its host are others.
#pragma once

#include <vector>

#include "gui/core/timeline_core.h"

namespace gui {

struct NameColor {
  std::uint32_t name = 0;  // as the caller numbers them
  Rgb color;
  bool operator==(const NameColor& other) const { return name == other.name && color.value == other.color.value; }
};
inline constexpr Rgb kOtherNames{0xffdddddd};
std::vector<NameColor> nameColors(const TimelineCore& core, const std::vector<std::uint32_t>& name_of_span);  // most time first

}  // namespace gui
