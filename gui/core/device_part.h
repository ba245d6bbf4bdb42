// Spans and samples of a timeline are ordered by device: those of one.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/units/index.h"

namespace gui {

template <class OfDevice>
std::span<const OfDevice> partOf(const std::vector<OfDevice>& all, sim::DeviceId device) {
  const auto first = std::partition_point(all.begin(), all.end(), [&](const OfDevice& one) { return one.device < device; });
  const auto last = std::partition_point(first, all.end(), [&](const OfDevice& one) { return one.device == device; });
  return {first, last};
}

}  // namespace gui
