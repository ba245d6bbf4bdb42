#include "gui/core/busy_time.h"

#include <algorithm>

#include "sim/units/at.h"

namespace gui {
namespace {

struct BusyInterval {
  std::int64_t begin = 0, end = 0;
};
using BusyIntervals = std::vector<BusyInterval>;

// Ascending, apart from each other.
BusyIntervals unitedTimes(BusyIntervals all) {
  std::sort(all.begin(), all.end(), [](const BusyInterval& a, const BusyInterval& b) { return a.begin < b.begin; });
  BusyIntervals apart;
  for (const BusyInterval& one : all)
    if (apart.empty() || one.begin > apart.back().end)
      apart.push_back(one);
    else
      apart.back().end = std::max(apart.back().end, one.end);
  return apart;
}

std::int64_t busyLength(const BusyIntervals& apart) {
  std::int64_t length = 0;
  for (const BusyInterval& one : apart) length += one.end - one.begin;
  return length;
}

std::int64_t sharedTime(const BusyIntervals& a, const BusyIntervals& b) {
  std::int64_t length = 0;
  for (std::size_t at = 0, of = 0; at < a.size() && of < b.size(); a[at].end < b[of].end ? ++at : ++of)
    length += std::max<std::int64_t>(0, std::min(a[at].end, b[of].end) - std::max(a[at].begin, b[of].begin));
  return length;
}

struct BusyDevice {
  std::string name;
  BusyIntervals compute, communication;
};

void addBusy(BusyDevice& device, const SliceRow& row, TimeRange range) {
  const SliceColumns& slices = *row.slices;
  const std::int64_t begin = range.begin.count(), end = range.end.count();
  const auto first = sim::position_in(slices.end, std::upper_bound(slices.end.begin(), slices.end.end(), begin));
  for (std::size_t at = first; at < slices.start.size() && slices.start[at] < end; ++at) {
    const BusyInterval cut{std::max(begin, slices.start[at]), std::min(end, slices.end[at])};
    if (isCompute(slices.kind[at])) device.compute.push_back(cut);
    if (isCommunication(slices.kind[at])) device.communication.push_back(cut);
  }
}

}  // namespace

std::vector<BusyTime> busyTimes(const TimelineCore& core, TimeRange range) {
  std::vector<BusyDevice> devices;
  for (const SliceRow& row : core.rows()) {
    if (row.opens_device || devices.empty()) devices.push_back({row.device, {}, {}});
    addBusy(devices.back(), row, range);
  }
  std::vector<BusyTime> times;
  for (BusyDevice& device : devices) {
    if (device.compute.empty() && device.communication.empty()) continue;
    const BusyIntervals compute = unitedTimes(std::move(device.compute)), communication = unitedTimes(std::move(device.communication));
    const std::int64_t busy = busyLength(compute), talking = busyLength(communication), both = sharedTime(compute, communication);
    times.push_back({device.name, sim::SimTime(busy), sim::SimTime(talking), sim::SimTime(both),
                     range.end - range.begin - sim::SimTime(busy + talking - both)});
  }
  return times;
}

}  // namespace gui
