#include "planner/traffic.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "planner/longest_step.h"
#include "planner/replay_stage.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using sim::SimTime;

// Buckets of another cut end elsewhere: they differ by what they are padded to.
constexpr double kOtherBuckets = 0.95;

LinkLoad gathers_of(const BucketPrice& price) {
  LinkLoad both = price.stays_near ? price.near_forward_gather.load : price.forward_gather.load;
  both += price.stays_near ? price.near_backward_gather.load : price.backward_gather.load;
  return both;
}

LinkLoad reduction_of(const BucketPrice& price) {
  LinkLoad load = price.reduce.load;
  load += price.replica_sum.load;
  return load;
}

std::vector<LinkLoad> sums_of_largest(std::vector<LinkLoad> units) {
  std::vector<LinkLoad> sums(units.size() + 1);
  for (SimTime LinkLoad::*link : {&LinkLoad::port, &LinkLoad::uplink}) {
    std::ranges::sort(units, std::ranges::greater{}, link);
    for (std::size_t at = 0; at < units.size(); ++at) sums[at + 1].*link = sums[at].*link + units[at].*link;
  }
  return sums;
}

// Of each stage what an element takes: groups of one stage may cross nodes where those of another do not.
class Evenness {
 public:
  void add(const LinkLoad& load, std::int64_t elements) {
    port_ += load.port, uplink_ += load.uplink;
    elements_ += elements;
  }
  void end_stage() {
    if (elements_ == 0) return;
    take(port_, ports_), take(uplink_, uplinks_);
    port_ = uplink_ = {}, elements_ = 0;
  }
  double share() const { return std::min(share(ports_), share(uplinks_)); }

 private:
  struct Range {
    double least = 1e300, most = 0;
  };
  void take(SimTime load, Range& range) const {
    const double one = static_cast<double>(load.count()) / static_cast<double>(elements_);
    range = {std::min(range.least, one), std::max(range.most, one)};
  }
  static double share(const Range& range) { return range.most > 0 ? range.least / range.most : 1; }

  SimTime port_{}, uplink_{};
  std::int64_t elements_ = 0;
  Range ports_, uplinks_;
};

}  // namespace

Traffic traffic_of(const sim::ParallelPlan& plan, const sim::TaskGraph& devices, const std::vector<StageStepPrices>& steps) {
  Traffic traffic;
  std::array<std::array<Evenness, 2>, 2> even;  // [of an expert][gathered]
  std::vector<LinkLoad> all_units;
  for (std::size_t stage = 0; stage < steps.size(); ++stage) {
    std::map<sim::LayerIndex, LinkLoad> units;
    for (std::size_t at = 0; at < steps[stage].buckets.size(); ++at) {
      const BucketPrice& price = steps[stage].buckets[at];
      const sim::Bucket& bucket = devices.buckets()[stage][at];
      if (price.tied || !price.shared) continue;
      const LinkLoad reduction = reduction_of(price), gathers = gathers_of(price);
      traffic.reduced += reduction, traffic.gathered += gathers;
      even[bucket.expert][0].add(reduction, bucket.elements), even[bucket.expert][1].add(gathers, bucket.elements);
      units[sim::unit_of(plan, bucket.ready_after).begin] += gathers;
    }
    for (const auto& [first, load] : units) all_units.push_back(load);
    for (auto& of_kind : even)
      for (Evenness& one : of_kind) one.end_stage();
  }
  traffic.largest = sums_of_largest(std::move(all_units));
  for (const auto& of_kind : even)
    for (const Evenness& one : of_kind) traffic.evenness = std::min(traffic.evenness, one.share());
  return traffic;
}

SimTime least_time(const Traffic& traffic, const sim::ParallelPlan& plan) {
  if (traffic.largest.empty() || plan.crosses_norm() || plan.offload_parameters || plan.mesh.copies() == 1) return {};
  const auto pieces = static_cast<double>(plan.num_pieces()), reductions = sim::reduces_each(plan) ? pieces : 1;
  const double gathers = gathers_anew(plan) ? pieces : 0;
  const LinkLoad& staying = traffic.largest[std::min(sim::count_of(plan.num_virtual_stages()), traffic.largest.size() - 1)];
  const auto of = [&](SimTime LinkLoad::*link) {
    return picoseconds(traffic.reduced.*link) * reductions + picoseconds(traffic.gathered.*link - staying.*link) * gathers;
  };
  return clamped(std::max(of(&LinkLoad::port), of(&LinkLoad::uplink)) * kOtherBuckets * traffic.evenness / plan.mesh.pipeline);
}

}  // namespace planner
