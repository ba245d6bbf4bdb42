#include "planner/partition.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "sim/units/at.h"

namespace planner {
namespace {

using sim::SimTime;

// Cuts as the number of blocks in front of them: cut i in 1 .. parts - 1. Cut 0 stands before everything, cut `parts` behind. A head that may stand alone
// counts as the last of the blocks.
class Partition {
 public:
  Partition(const std::vector<SimTime>& layer_times, std::int64_t blocks, std::int64_t parts)
      : blocks_(blocks), parts_(parts), before_(layer_times.size() + 1) {
    std::partial_sum(layer_times.begin(), layer_times.end(), before_.begin() + 1);
  }

  // The first place for each cut when parts are filled from the back. `limit` is known to be enough.
  std::vector<std::int64_t> earliest(SimTime limit) const {
    std::vector<std::int64_t> cuts(sim::count_of(parts_) + 1, 0);
    cuts.back() = blocks_;
    for (std::int64_t part = parts_ - 1; part > 0; --part) {
      std::int64_t begin = sim::at(cuts, part + 1) - 1;
      while (begin > part && time(part, begin - 1, sim::at(cuts, part + 1)) <= limit) --begin;
      sim::at(cuts, part) = begin;
    }
    return cuts;
  }

  // The furthest end of a part that begins at `begin`, within the limit and leaving a block to each later part; begin: none. Looked for from `guess` blocks on.
  std::int64_t reach(std::int64_t begin, std::int64_t part, SimTime limit, std::int64_t guess = 0) const {
    const std::int64_t last = blocks_ - (parts_ - 1 - part);
    std::int64_t end = std::max(begin, std::min(begin + guess, last));
    while (end > begin && time(part, begin, end) > limit) --end;
    while (end < last && time(part, begin, end + 1) <= limit) ++end;
    return end;
  }

  // Nothing where parts that are filled from the front reach the end. Else the next limit by which any of them holds more: none between the two suffices.
  std::optional<SimTime> next(SimTime limit) const {
    std::optional<SimTime> more;
    std::int64_t begin = 0, before = 0;  // before: blocks of the part in front, which mostly has as many
    for (std::int64_t part = 0; part < parts_; ++part) {
      const std::int64_t end = reach(begin, part, limit, before);
      before = end - begin;
      if (end < blocks_ - (parts_ - 1 - part)) {
        const SimTime with_one_more = time(part, begin, end + 1);
        if (!more || with_one_more < *more) more = with_one_more;
      }
      if (end <= begin) return more;
      begin = end;
    }
    return begin == blocks_ ? std::nullopt : more;
  }
  bool suffices(SimTime limit) const { return !next(limit); }

  SimTime least() const { return before_.back() / parts_; }  // no part is slower than all on average

 private:
  SimTime time(std::int64_t part, std::int64_t begin, std::int64_t end) const {
    const std::int64_t all = std::ssize(before_) - 1, first_layer = part == 0 ? 0 : begin + 1,
                       end_layer = part == parts_ - 1 ? all : end + 1;
    return sim::at(before_, end_layer) - sim::at(before_, first_layer);
  }

  std::int64_t blocks_, parts_;
  std::vector<SimTime> before_;  // of each layer: the time of all layers in front of it
};

// `enough` suffices. Where layers are alike few limits are left between it and the average; else the interval is halved, too.
SimTime smallest_limit(const Partition& partition, SimTime enough) {
  if (!partition.suffices(enough - SimTime(1))) return enough;
  SimTime low = partition.least(), high = enough - SimTime(1);
  for (constexpr int kSteps = 8;;) {
    for (int step = 0; step < kSteps; ++step) {
      const std::optional<SimTime> next = partition.next(low);
      if (!next) return low;
      low = *next;
    }
    const SimTime middle = low + (high - low) / 2;
    const std::optional<SimTime> next = partition.next(middle);
    (next ? low : high) = next.value_or(middle);
  }
}

}  // namespace

sim::StageCut optimal_cut(const std::vector<SimTime>& layer_times, sim::PipelineShape shape, HeadPlace head) {
  const std::int64_t blocks = std::ssize(layer_times) - 2;
  sim::StageCut cut = sim::even_cut(blocks, shape);
  const std::size_t parts = cut.first.size();
  const Partition partition(layer_times, blocks + (head == HeadPlace::MayStandAlone ? 1 : 0), static_cast<std::int64_t>(parts));
  const SimTime even = slowest_part(layer_times, cut), limit = smallest_limit(partition, even);
  if (even <= limit) return cut;
  const std::vector<std::int64_t> earliest = partition.earliest(limit);
  std::int64_t begin = 0;
  for (std::size_t part = 1; part < parts; ++part) {
    const std::int64_t place = cut.first[part].value() - 1;
    begin = std::clamp(place, std::max(earliest[part], begin + 1), partition.reach(begin, static_cast<std::int64_t>(part) - 1, limit));
    cut.first[part] = sim::LayerIndex(static_cast<std::int32_t>(begin + 1));
  }
  return cut;
}

SimTime slowest_part(const std::vector<SimTime>& layer_times, const sim::StageCut& cut) {
  SimTime slowest{0};
  for (std::size_t part = 0; part < cut.first.size(); ++part) {
    const std::size_t end = part + 1 < cut.first.size() ? cut.first[part + 1].position() : layer_times.size();
    slowest = std::max(slowest, std::accumulate(layer_times.begin() + static_cast<std::ptrdiff_t>(cut.first[part].position()),
                                                layer_times.begin() + static_cast<std::ptrdiff_t>(end), SimTime{0}));
  }
  return slowest;
}

}  // namespace planner
