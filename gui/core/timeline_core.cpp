#include "gui/core/timeline_core.h"

#include <algorithm>
#include <map>

#include "sim/timeline/rows.h"
#include "sim/timeline/tracks.h"
#include "sim/units/at.h"

namespace gui {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

void append(SliceRow& row, const sim::Span& span, std::uint32_t position) {
  row.slices->start.push_back(span.start.count());
  row.slices->end.push_back(span.end.count());
  row.slices->kind.push_back(kindOf(span.key));
  row.slices->span.push_back(position);
}

// The rows of one device, by (stream, lane). `first` is the position of spans[0] in the timeline.
std::vector<SliceRow> rowsOf(const std::vector<sim::Span>& spans, std::uint32_t first, const std::string& device) {
  const std::vector<std::int32_t> lanes = sim::lanes_of(spans);
  std::map<std::pair<sim::Stream, std::int32_t>, SliceRow> by_lane;
  for (std::size_t at = 0; at < spans.size(); ++at)
    if (spans[at].end > spans[at].start) append(by_lane[{spans[at].stream, lanes[at]}], spans[at], first + static_cast<std::uint32_t>(at));
  std::vector<SliceRow> rows;
  for (auto& [key, row] : by_lane) {
    row.device = device;
    row.stream = sim::at(sim::kStreamNames, key.first);
    row.opens_device = rows.empty();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string deviceName(const sim::DeviceRow& row, const sim::GraphDevice& device) {
  const std::string name = trimmed(row.label);
  return device.multiplicity > 1 ? name + "  \u00d7" + std::to_string(device.multiplicity) : name;
}

// First position from `from` on whose end lies behind `time`, found in steps that double: near ones are cheap.
std::size_t gallop(const std::vector<std::int64_t>& end, std::size_t from, std::int64_t time) {
  std::size_t step = 1, low = from;
  while (low + step < end.size() && end[low + step] <= time) {
    low += step;
    step *= 2;
  }
  const auto last = end.begin() + static_cast<std::ptrdiff_t>(std::min(low + step + 1, end.size()));
  return sim::position_in(end, std::upper_bound(end.begin() + static_cast<std::ptrdiff_t>(low), last, time));
}

// Of the slices folded into a pixel, the longest of a few: all of them would cost as much as drawing them.
std::uint32_t longestOf(const SliceColumns& row, std::size_t first, std::size_t last) {
  constexpr std::size_t kSamples = 3;
  const std::size_t stride = std::max<std::size_t>(1, (last - first) / kSamples);
  std::size_t best = first;
  for (std::size_t at = first; at < last; at += stride)
    if (row.end[at] - row.start[at] > row.end[best] - row.start[best]) best = at;
  return static_cast<std::uint32_t>(best);
}

}  // namespace

TimelineCore::TimelineCore(const sim::Timeline& timeline) {
  const std::vector<sim::DeviceRow> devices = sim::device_rows(timeline);
  std::uint32_t first = 0;
  for (std::size_t at = 0; at < devices.size(); ++at) {
    const std::vector<sim::Span> spans(devices[at].spans.begin(), devices[at].spans.end());
    for (SliceRow& row : rowsOf(spans, first, deviceName(devices[at], timeline.devices[at]))) rows_.push_back(std::move(row));
    first += static_cast<std::uint32_t>(spans.size());
  }
  measure();
}

TimelineCore::TimelineCore(std::vector<SliceRow> rows) : rows_(std::move(rows)) { measure(); }

void TimelineCore::setTopRow(SliceRow row) {
  blocks_.insert(blocks_.begin(), std::make_shared<SliceBlocks>(SliceBlocks::Row{row.slices->start, row.slices->end}));
  rows_.insert(rows_.begin(), std::move(row));
}

void TimelineCore::measure() {
  std::int64_t last = 0;
  std::map<const SliceColumns*, SharedBlocks> known;
  for (const SliceRow& row : rows_) {
    const SliceColumns& slices = *row.slices;
    SharedBlocks& blocks = known[&slices];
    if (!blocks) blocks = std::make_shared<SliceBlocks>(SliceBlocks::Row{slices.start, slices.end});
    blocks_.push_back(blocks);
    if (!slices.end.empty()) last = std::max(last, slices.end.back());
  }
  range_ = {sim::SimTime(0), sim::SimTime(last)};
}

std::size_t TimelineCore::numSlices() const {
  std::size_t sum = 0;
  for (const SliceRow& row : rows_) sum += row.size();
  return sum;
}

// A pixel that holds several blocks ends at the border of one: what lies behind belongs to the next pixel, which is as good at that zoom.
TimelineCore::Fold TimelineCore::fold(RowIndex index, std::size_t at, sim::SimTime until) const {
  constexpr std::size_t kWorthBlocks = 2;
  const SliceColumns& row = *rows_[index.value].slices;
  const SliceBlocks& blocks = *blocks_[index.value];
  const std::size_t first = at / SliceBlocks::kSize;
  if (first + kWorthBlocks < blocks.end.size() && blocks.end[first + kWorthBlocks] <= until.count()) {
    const std::size_t last = gallop(blocks.end, first, until.count());
    return {std::min(last * SliceBlocks::kSize, row.end.size()), blocks.longestOf({first, last})};
  }
  const std::size_t next = std::max(at + 1, gallop(row.end, at, until.count()));
  return {next, longestOf(row, at, next)};
}

template <class Sink>
void TimelineCore::walk(RowIndex index, const TimeAxis& axis, Sink&& sink) const {
  const SliceColumns& row = *rows_[index.value].slices;
  const TimeRange shown = axis.shown();
  const std::int32_t width = axis.width().value;
  std::size_t at = gallop(row.end, 0, shown.begin.count());
  std::int32_t free = 0;  // the first pixel that is not taken
  while (at < row.end.size() && row.start[at] < shown.end.count()) {
    const std::int32_t left = std::max(free, static_cast<std::int32_t>(std::max(0.0, axis.toX(sim::SimTime(row.start[at])))));
    if (left >= width) break;
    const auto right = static_cast<std::int32_t>(std::min<double>(width, axis.toX(sim::SimTime(row.end[at]))));
    if (right > left + 1) {
      sink(Run{left, right, static_cast<std::uint32_t>(at), 1, row.kind[at]});
      free = right;
      ++at;
      continue;
    }
    const Fold folded = fold(index, at, axis.toTime(left + 1));
    sink(Run{left, left + 1, folded.shows, static_cast<std::uint32_t>(folded.next - at), row.kind[folded.shows]});
    free = left + 1;
    at = folded.next;
  }
}

void TimelineCore::visit(RowIndex row, const TimeAxis& axis, const RunSink& sink) const { walk(row, axis, sink); }

void TimelineCore::paint(RowIndex row, const TimeAxis& axis, std::span<std::uint32_t> line) const {
  walk(row, axis, [&](const Run& run) { std::fill(line.begin() + run.left, line.begin() + run.right, lookOf(run.kind).color.value); });
}

std::optional<Run> TimelineCore::under(RowIndex row, double x, const TimeAxis& axis) const {
  std::optional<Run> found;
  walk(row, axis, [&](const Run& run) {
    if (x >= run.left && x < run.right) found = run;
  });
  return found;
}

std::optional<Slice> TimelineCore::at(RowIndex row, double x, const TimeAxis& axis) const {
  const std::optional<Run> run = under(row, x, axis);
  return run ? std::optional(Slice{row, run->slice}) : std::nullopt;
}

std::optional<sim::SimTime> TimelineCore::nearestEdge(RowIndex row, sim::SimTime time) const {
  std::optional<sim::SimTime> best;
  for (const std::vector<std::int64_t>* edges : {&rows_[row.value].slices->start, &rows_[row.value].slices->end}) {
    const auto behind = std::lower_bound(edges->begin(), edges->end(), time.count());
    for (const auto edge : {behind, behind - (behind != edges->begin())})
      if (edge != edges->end() && (!best || std::abs(*edge - time.count()) < std::abs((*best - time).count()))) best = sim::SimTime(*edge);
  }
  return best;
}

std::optional<Slice> TimelineCore::find(std::uint32_t span) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].repeats) continue;
    const std::vector<std::uint32_t>& spans = rows_[row].slices->span;
    const std::uint32_t own = span - rows_[row].first;  // of an earlier row: larger than any
    if (spans.empty() || own < spans.front() || own > spans.back()) continue;
    const auto found = std::lower_bound(spans.begin(), spans.end(), own);
    if (found != spans.end() && *found == own) return Slice{{row}, static_cast<std::uint32_t>(found - spans.begin())};
  }
  return std::nullopt;
}

TimeRange TimelineCore::extent(const Slice& slice) const {
  const SliceColumns& row = *rows_[slice.row.value].slices;
  return {sim::SimTime(row.start[slice.position]), sim::SimTime(row.end[slice.position])};
}

std::optional<Slice> TimelineCore::neighbor(const Slice& slice, std::int32_t step) const {
  const std::int64_t position = static_cast<std::int64_t>(slice.position) + step;
  if (position < 0 || position >= static_cast<std::int64_t>(rows_[slice.row.value].size())) return std::nullopt;
  return Slice{slice.row, static_cast<std::uint32_t>(position)};
}

}  // namespace gui
