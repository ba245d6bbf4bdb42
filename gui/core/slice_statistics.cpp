#include "gui/core/slice_statistics.h"

#include <algorithm>
#include <map>

namespace gui {
namespace {

SliceStatistics summed(std::uint32_t name, std::vector<sim::SimTime>& times) {
  const auto [shortest, longest] = std::minmax_element(times.begin(), times.end());
  SliceStatistics sums{name, static_cast<std::int64_t>(times.size()), {}, *shortest, {}, *longest};
  for (const sim::SimTime time : times) sums.total += time;
  const auto rank = times.begin() + static_cast<std::ptrdiff_t>((times.size() * 99 + 99) / 100 - 1);  // nearest rank
  std::nth_element(times.begin(), rank, times.end());
  sums.p99 = *rank;
  return sums;
}

}  // namespace

std::vector<SliceStatistics> statisticsOf(const TimelineCore& core, TimeRange range, const std::vector<std::uint32_t>& name_of_span) {
  std::vector<std::vector<sim::SimTime>> times;  // by name
  const std::int64_t begin = range.begin.count(), end = range.end.count();
  for (const SliceRow& row : core.rows()) {
    if (row.repeats) continue;
    const SliceColumns& slices = *row.slices;
    const auto first = static_cast<std::size_t>(std::upper_bound(slices.end.begin(), slices.end.end(), begin) - slices.end.begin());
    for (std::size_t at = first; at < slices.start.size() && slices.start[at] < end; ++at) {
      const std::uint32_t name = name_of_span[slices.span[at]];
      if (name >= times.size()) times.resize(name + 1);
      times[name].push_back(sim::SimTime(std::min(end, slices.end[at]) - std::max(begin, slices.start[at])));
    }
  }
  std::vector<SliceStatistics> sums;
  for (std::uint32_t name = 0; name < times.size(); ++name)
    if (!times[name].empty()) sums.push_back(summed(name, times[name]));
  std::stable_sort(sums.begin(), sums.end(), [](const SliceStatistics& a, const SliceStatistics& b) { return a.total > b.total; });
  return sums;
}

KindNumbers kindNumbers(const sim::Timeline& timeline) {
  KindNumbers kinds;
  std::map<std::string, std::uint32_t> known;
  for (const sim::Span& span : timeline.spans) {
    const auto [entry, is_new] = known.try_emplace(sim::kind_text(span.key), static_cast<std::uint32_t>(kinds.names.size()));
    if (is_new) kinds.names.push_back(entry->first);
    kinds.of_span.push_back(entry->second);
  }
  return kinds;
}

}  // namespace gui
