#include "gui/core/slice_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/units/at.h"

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

struct RangeCut {  // a slice of a row, as far as it lies in the range
  std::size_t at = 0;
  std::int64_t begin = 0, end = 0;
};
template <class Take>
void visitCut(const SliceRow& row, TimeRange range, Take&& take) {
  const SliceColumns& slices = *row.slices;
  const std::int64_t begin = range.begin.count(), end = range.end.count();
  const auto first = sim::position_in(slices.end, std::upper_bound(slices.end.begin(), slices.end.end(), begin));
  for (std::size_t at = first; at < slices.start.size() && slices.start[at] < end; ++at)
    take(RangeCut{at, std::max(begin, slices.start[at]), std::min(end, slices.end[at])});
}

// What slices of the row take from those that they lie in, of the row above.
void takeFromOuter(const SliceRow& outer, const SliceRow& row, TimeRange range,
                   const std::function<void(std::uint32_t, std::int64_t)>& take) {
  const SliceColumns &above = *outer.slices, &slices = *row.slices;
  std::size_t around = 0;
  visitCut(row, range, [&](const RangeCut& cut) {
    while (around < above.end.size() && above.end[around] <= slices.start[cut.at]) ++around;
    if (around < above.end.size() && above.start[around] <= slices.start[cut.at] && above.end[around] >= slices.end[cut.at])
      take(above.span[around], cut.end - cut.begin);
  });
}

}  // namespace

std::vector<SliceStatistics> statisticsOf(const TimelineCore& core, TimeRange range, const std::vector<std::uint32_t>& name_of_span) {
  std::vector<std::vector<sim::SimTime>> times;  // by name
  std::vector<std::int64_t> inner;               // by name: time of slices that lie in theirs
  const SliceRow* before = nullptr;
  for (const SliceRow& row : core.rows()) {
    if (row.repeats) continue;
    visitCut(row, range, [&](const RangeCut& cut) {
      const std::uint32_t name = name_of_span[row.slices->span[cut.at]];
      if (name >= times.size()) times.resize(name + 1);
      times[name].push_back(sim::SimTime(cut.end - cut.begin));
    });
    inner.resize(times.size());
    if (before != nullptr && row.stream.empty() && !row.opens_device)
      takeFromOuter(*before, row, range, [&](std::uint32_t span, std::int64_t time) { inner[name_of_span[span]] += time; });
    before = &row;
  }
  std::vector<SliceStatistics> sums;
  for (std::uint32_t name = 0; name < times.size(); ++name) {
    if (times[name].empty()) continue;
    sums.push_back(summed(name, times[name]));
    sums.back().self = sums.back().total - sim::SimTime(inner[name]);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const SliceStatistics& a, const SliceStatistics& b) { return a.total > b.total; });
  return sums;
}

std::vector<DurationBin> histogramOf(const TimelineCore& core, TimeRange range, const NamedSlices& slices) {
  std::vector<sim::SimTime> times;
  for (const SliceRow& row : core.rows()) {
    if (row.repeats) continue;
    visitCut(row, range, [&](const RangeCut& cut) {
      if ((slices.names == nullptr || (*slices.names)[slices.name_of_span[row.slices->span[cut.at]]]) && cut.end > cut.begin)
        times.push_back(sim::SimTime(cut.end - cut.begin));
    });
  }
  return histogramOf(times);
}

std::vector<DurationBin> histogramOf(const std::vector<sim::SimTime>& durations) {
  constexpr int kBins = 24;
  std::vector<double> times;
  for (const sim::SimTime duration : durations) times.push_back(static_cast<double>(duration.count()));
  if (times.empty()) return {};
  const auto [shortest, longest] = std::minmax_element(times.begin(), times.end());
  const double least = std::log(*shortest), width = std::max((std::log(*longest) - least) / kBins, 1e-3);
  std::vector<DurationBin> bins;
  for (int bin = 0; bin < kBins; ++bin)
    bins.push_back(
        {sim::SimTime(std::llround(std::exp(least + width * bin))), sim::SimTime(std::llround(std::exp(least + width * (bin + 1))))});
  for (const double time : times)
    ++bins[std::min<std::size_t>(kBins - 1, static_cast<std::size_t>((std::log(time) - least) / width))].slices;
  return bins;
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
