// What lies in a range of a timeline, added up by name: counted and cut to the range.
#pragma once

#include <functional>
#include <vector>

#include "gui/core/timeline_core.h"

namespace gui {

struct SliceStatistics {
  std::uint32_t name = 0;  // as the caller numbers them
  std::int64_t slices = 0;
  sim::SimTime total{}, shortest{}, p99{}, longest{};  // p99: the shortest that 99 of 100 do not exceed
  sim::SimTime self{};                                 // of the total, without the slices right below in rows of the same stream
};
// Largest total first; names without a slice are left out. Rows that repeat others do not count.
std::vector<SliceStatistics> statisticsOf(const TimelineCore& core, TimeRange range, const std::vector<std::uint32_t>& name_of_span);

// How long slices are, of one name or of all: bins as wide as each other on a logarithmic scale, from the shortest to the longest.
struct DurationBin {
  sim::SimTime least{}, most{};
  std::int64_t slices = 0;
};
std::vector<DurationBin> histogramOf(const std::vector<sim::SimTime>& durations);  // longer than 0
struct NamedSlices {
  const std::vector<std::uint32_t>& name_of_span;
  const std::vector<bool>* names = nullptr;  // by name, those that count; null: all
};
std::vector<DurationBin> histogramOf(const TimelineCore& core, TimeRange range, const NamedSlices& slices);

// Kinds of task, numbered, for a simulated or measured timeline.
struct KindNumbers {
  std::vector<std::string> names;
  std::vector<std::uint32_t> of_span;
};
KindNumbers kindNumbers(const sim::Timeline& timeline);

}  // namespace gui
