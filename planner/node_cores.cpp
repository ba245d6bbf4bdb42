#include "planner/node_cores.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/units/at.h"

namespace planner {
namespace {

using sim::SimTime;

constexpr std::int64_t kAllCores = 1 << 20;  // shares are whole numbers of it (cost_model.h)

SimTime scaled(SimTime time, std::int64_t share, std::int64_t of) {
  __extension__ using Work = __int128;
  return SimTime(static_cast<std::int64_t>(Work{time.count()} * share / of));
}

struct Occupant {  // a stage, on one node
  std::int32_t stage = 0;
  std::int64_t share = 0;      // of the cores, while all its ranks there compute
  std::int64_t stretched = 0;  // in the prices of the stage
  SimTime used(SimTime computing) const { return scaled(computing, share, std::max(stretched, kAllCores)); }
};

class Nodes {
 public:
  Nodes(const sim::ParallelPlan& plan, double core_share)
      : stages_(plan.mesh.pipeline),
        of_stage_(plan.mesh.copies() * plan.mesh.tensor),
        of_node_(plan.cluster.hardware.devices_per_node),
        share_(static_cast<std::int64_t>(core_share * kAllCores)) {}

  // Of each node whose ranks want more than its cores together, the longest.
  template <class Time>
  SimTime longest(const Time& time) const {
    SimTime longest{};
    const std::int32_t ranks = stages_ * of_stage_;
    for (std::int32_t begin = 0; share_ > 0 && begin < ranks; begin += of_node_)
      if (share_ * std::min(of_node_, ranks - begin) > kAllCores)
        longest = std::max(longest, time(occupants(begin, std::min(begin + of_node_, ranks))));
    return longest;
  }

 private:
  std::int64_t share_of(std::int32_t stage, std::int32_t begin, std::int32_t end) const {
    const std::int32_t first = std::max(begin, stage * of_stage_), last = std::min(end, (stage + 1) * of_stage_);
    return share_ * std::max(0, last - first);
  }
  // Prices are those of the stage's first rank.
  std::vector<Occupant> occupants(std::int32_t begin, std::int32_t end) const {
    std::vector<Occupant> all;
    for (std::int32_t stage = begin / of_stage_; stage * of_stage_ < end; ++stage) {
      const std::int32_t node = stage * of_stage_ / of_node_ * of_node_;
      all.push_back({.stage = stage, .share = share_of(stage, begin, end), .stretched = share_of(stage, node, node + of_node_)});
    }
    return all;
  }

  std::int32_t stages_, of_stage_, of_node_;  // of the latter two: ranks
  std::int64_t share_;                        // of one rank
};

// Of the cores, until all occupants may use them: counted from the first, or backward from the end.
SimTime idle(std::vector<std::pair<SimTime, std::int64_t>> begins) {
  std::ranges::sort(begins);
  SimTime idle{}, now{};
  std::int64_t usable = 0;
  for (const auto& [begin, share] : begins) {
    idle += scaled(begin - now, std::max(std::int64_t{0}, kAllCores - usable), kAllCores);
    now = begin, usable += share;
  }
  return idle;
}

SimTime end_of_backward(const std::vector<Occupant>& occupants, std::span<const StageSketch> stages, bool drains) {
  std::vector<std::pair<SimTime, std::int64_t>> fill, drain;
  SimTime work{}, arrived{}, drained{};
  for (const Occupant& one : occupants) {
    const StageSketch& stage = sim::at(stages, one.stage);
    fill.emplace_back(stage.arrive, one.share);
    drain.emplace_back(stage.drain, one.share);
    work += one.used(stage.computing);
    arrived = std::max(arrived, stage.arrive), drained = std::max(drained, stage.drain);
  }
  const SimTime before = idle(std::move(fill)), behind = drains ? idle(std::move(drain)) : SimTime{};
  const SimTime least = work + std::max(before, behind);
  return least >= arrived + drained ? work + before + behind : least;  // else the two may be the same time
}

}  // namespace

SimTime cores_time(const sim::ParallelPlan& plan, double core_share, std::span<const StageSketch> stages) {
  const bool drains = !plan.splits_backward();  // else weights are left to compute meanwhile
  return Nodes(plan, core_share).longest([&](const std::vector<Occupant>& node) { return end_of_backward(node, stages, drains); });
}

SimTime cores_time_of_updates(const sim::ParallelPlan& plan, double core_share, std::span<const StageStepPrices> steps) {
  if (plan.offload_optimizer) return {};  // they are the host's
  return Nodes(plan, core_share).longest([&](const std::vector<Occupant>& node) {
    SimTime work{};
    for (const Occupant& one : node)
      for (const BucketPrice& bucket : sim::at(steps, one.stage).buckets) work += one.used(bucket.update.time);
    return work;
  });
}

}  // namespace planner
