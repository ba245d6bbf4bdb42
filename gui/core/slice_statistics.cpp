#include "gui/core/slice_statistics.h"

#include <algorithm>
#include <map>

namespace gui {
namespace {

void addSlice(SliceStatistics& sums, sim::SimTime time) {
  sums.shortest = sums.slices == 0 ? time : std::min(sums.shortest, time);
  sums.longest = std::max(sums.longest, time);
  sums.total += time;
  ++sums.slices;
}

}  // namespace

std::vector<SliceStatistics> statisticsOf(const TimelineCore& core, TimeRange range, const std::vector<std::uint32_t>& name_of_span) {
  std::vector<SliceStatistics> sums;
  const std::int64_t begin = range.begin.count(), end = range.end.count();
  for (const SliceRow& row : core.rows()) {
    if (row.repeats) continue;
    const SliceColumns& slices = *row.slices;
    const auto first = static_cast<std::size_t>(std::upper_bound(slices.end.begin(), slices.end.end(), begin) - slices.end.begin());
    for (std::size_t at = first; at < slices.start.size() && slices.start[at] < end; ++at) {
      const std::uint32_t name = name_of_span[slices.span[at]];
      if (name >= sums.size()) sums.resize(name + 1);
      sums[name].name = name;
      addSlice(sums[name], sim::SimTime(std::min(end, slices.end[at]) - std::max(begin, slices.start[at])));
    }
  }
  std::erase_if(sums, [](const SliceStatistics& one) { return one.slices == 0; });
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
