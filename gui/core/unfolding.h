// Which device of a timeline each device of a picture shows. A folded step has one device for all ranks that do the same at the same time
// (sim/task_graph/fold.h); one by one, each of these ranks shows that device's slices, shared, under numbers of its own: those that it would
// have if every rank had been simulated.
//
//   timeline   stage 0 x2: spans 0 1 2   stage 1 x2: spans 3 4
//   shown      rank 0: 0 1 2   rank 1: 3 4 5   rank 2: 6 7   rank 3: 8 9
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/timeline/timeline.h"

namespace gui {

struct ShownDevice {
  sim::GraphDevice device;       // of one rank, where ranks stand by themselves
  sim::DeviceId source{};        // of the timeline
  std::uint32_t first = 0;       // number of its first span
  std::uint32_t first_span = 0;  // position of that span in the timeline
  std::uint32_t size = 0;        // spans
};

class Unfolding {
 public:
  Unfolding() = default;
  explicit Unfolding(const sim::Timeline& timeline);  // as it is
  static Unfolding everyRank(const sim::Timeline& folded, const sim::Fold& fold, const sim::DeviceMesh& mesh);

  std::span<const ShownDevice> devices() const { return devices_; }
  std::uint32_t numSpans() const { return devices_.empty() ? 0 : devices_.back().first + devices_.back().size; }
  std::size_t deviceOf(std::uint32_t number) const;
  std::uint32_t positionOf(std::uint32_t number) const;                                     // in the timeline
  std::uint32_t numberOf(std::uint32_t position) const;                                     // of the first device that shows it
  std::vector<std::uint32_t> numbersOf(const std::vector<std::uint32_t>& positions) const;  // of all that show them; both ascending
  sim::Timeline unfolded(const sim::Timeline& folded) const;  // copied out: spans and memory of every shown device

 private:
  std::vector<ShownDevice> devices_;
  std::vector<ShownDevice> sources_;  // by device of the timeline: the first that shows it
};

}  // namespace gui
