#include "gui/core/step_picture.h"

#include <algorithm>
#include <utility>

namespace gui {
namespace {

// By device of the core, top to bottom; rows that repeat others are of none.
std::vector<std::vector<SliceRow>> rowsByDevice(const TimelineCore& core) {
  std::vector<std::vector<SliceRow>> rows;
  for (const SliceRow& row : core.rows()) {
    if (row.repeats) continue;
    if (row.opens_device) rows.emplace_back();
    rows.back().push_back(row);
  }
  return rows;
}

SliceRow renumbered(const SliceRow& path, const Unfolding& ranks) {
  SliceRow row = path;
  row.slices = std::make_shared<SliceColumns>(*path.slices);
  for (std::uint32_t& span : row.slices->span) span = ranks.numberOf(span);
  return row;
}

SharedCore coreOf(const TimelineCore& classes, const Unfolding& ranks) {
  const std::vector<std::vector<SliceRow>> sources = rowsByDevice(classes);
  std::vector<SliceRow> rows;
  for (const SliceRow& row : classes.rows())
    if (row.repeats) rows.push_back(renumbered(row, ranks));
  for (const ShownDevice& shown : ranks.devices())
    for (SliceRow row : sources[shown.source.position()]) {
      row.device = "rank " + std::to_string(shown.device.representative.value());
      row.first = shown.first - shown.first_span;
      rows.push_back(std::move(row));
    }
  return std::make_shared<TimelineCore>(std::move(rows));
}

// A class hands over to a class; its ranks to those at the same place on the other axes.
std::vector<Flow> flowsBetween(const std::vector<Flow>& classes, const Unfolding& ranks, const sim::DeviceMesh& mesh) {
  std::vector<Flow> flows;
  const std::span<const ShownDevice> devices = ranks.devices();
  const auto before = [](const Flow& flow, std::uint32_t position) { return flow.from < position; };
  std::vector<Flow> ordered = classes;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Flow& a, const Flow& b) { return a.from < b.from; });
  for (const ShownDevice& from : devices)
    for (auto flow = std::lower_bound(ordered.begin(), ordered.end(), from.first_span, before);
         flow != ordered.end() && flow->from < from.first_span + from.size; ++flow) {
      sim::MeshCoordinate at = mesh.coordinate(from.device.representative);
      at.stage = devices[ranks.deviceOf(ranks.numberOf(flow->to))].device.stage;
      const ShownDevice& to = devices[mesh.rank_of(at).position()];
      flows.push_back({from.first + flow->from - from.first_span, to.first + flow->to - to.first_span});
    }
  return flows;
}

std::vector<CounterRow> countersOf(const std::vector<CounterRow>& classes, const Unfolding& ranks) {
  std::vector<CounterRow> counters;
  for (std::size_t device = 0; device < ranks.devices().size(); ++device)
    for (const CounterRow& row : classes)
      if (row.device == ranks.devices()[device].source) counters.push_back({sim::DeviceId(static_cast<std::int32_t>(device)), row.counter});
  return counters;
}

}  // namespace

StepPicture everyRank(const StepPicture& classes, Unfolding ranks, const sim::DeviceMesh& mesh) {
  StepPicture picture;
  picture.core = coreOf(*classes.core, ranks);
  picture.flows = flowsBetween(classes.flows, ranks, mesh);
  picture.counters = countersOf(classes.counters, ranks);
  picture.devices = std::move(ranks);
  return picture;
}

}  // namespace gui
