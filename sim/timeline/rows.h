// A timeline as rows of text: one a device, with its label and its spans.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/timeline/timeline.h"

namespace sim {

struct DeviceRow {
  std::string label;            // "stage 0", or "rank 0" where a stage has several devices; padded to equal width
  std::span<const Span> spans;  // of the timeline, which must outlive the row
};
std::vector<DeviceRow> device_rows(const Timeline& timeline);

}  // namespace sim
