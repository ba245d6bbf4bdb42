#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/check/graph_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

struct Part {
  std::int64_t elements = 0;
  bool expert = false;
};
using Owned = std::map<std::pair<LayerIndex, std::int32_t>, Part>;  // (layer, parameter) -> elements of a tensor rank

std::int32_t degree_of_experts(const DeviceMesh& mesh) { return mesh.expert_tensor > 0 ? mesh.expert_tensor : mesh.tensor; }

Owned parameters_of_stage(const CheckedGraph& checked, StageIndex stage) {
  const DeviceMesh& mesh = checked.plan.mesh;
  Owned owned;
  for (LayerIndex layer(0); layer <= checked.model.head(); ++layer) {
    if (!checked.plan.owns(stage, layer)) continue;
    std::int32_t number = 0;
    for (const Parameter& parameter : checked.model.layer(layer).parameters)
      owned[{layer, number++}] = {
          parameter.expert ? parameter.elements(degree_of_experts(mesh)) / mesh.expert : parameter.elements(mesh.tensor), parameter.expert};
    if (checked.plan.holds_copy(layer))
      owned[{layer, number}] = {checked.model.layers.front().parameters.front().elements(mesh.tensor), false};
  }
  return owned;
}

// Whole tensors: shard by shard, none torn.
void check_bounds(const Bucket& bucket, std::int32_t shards, const std::string& name, Findings& findings) {
  const std::vector<std::int64_t>& first = bucket.first_of;
  const bool covers = std::cmp_equal(first.size(), shards + 1) && bucket.shards == shards && first.front() == 0 &&
                      first.back() == bucket.elements && std::is_sorted(first.begin(), first.end());
  if (!covers) return findings.add(fmt::format("{}: its {} elements are not those of {} owners", name, bucket.elements, shards));
  for (const BucketSlot& slot : bucket.slots)
    if (*std::upper_bound(first.begin(), first.end(), slot.offset) < slot.offset + slot.elements)
      findings.add(fmt::format("{}: the slot at {} is of two owners", name, slot.offset));
  if (sim::at(first, bucket.fullest + 1) - sim::at(first, bucket.fullest) != bucket.shard_elements)
    findings.add(fmt::format("{}: shard {} does not have {} elements", name, bucket.fullest, bucket.shard_elements));
}

// What stays whole is what is small: each of the matrices or vectors that lie together in a parameter.
bool is_small(const CheckedGraph& checked, const Bucket& bucket, const BucketSlot& slot) {
  if (checked.plan.zero_stage != 3 || bucket.expert || bucket.frozen || bucket.tied || checked.plan.persistence_threshold == 0)
    return false;
  const std::vector<Parameter>& all = checked.model.layer(slot.layer).parameters;
  const Parameter& parameter =
      slot.parameter < std::ssize(all) ? sim::at(all, slot.parameter) : checked.model.layers.front().parameters.front();
  const std::int64_t cut = parameter.split == TensorSplit::Rows ? checked.plan.mesh.tensor : 1,
                     columns = slot.elements / (parameter.rows / cut);
  std::vector<std::int64_t> rows = parameter.row_blocks;
  if (rows.empty()) rows.push_back(parameter.rows);
  return std::ranges::all_of(rows, [&](std::int64_t block) { return block / cut * columns <= checked.plan.persistence_threshold; });
}

void check_shape(const CheckedGraph& checked, const Bucket& bucket, const std::string& name, Findings& findings) {
  std::int64_t end = 0;
  LayerIndex lowest = checked.model.head();
  for (const BucketSlot& slot : bucket.slots) {
    if (slot.offset < end || slot.offset % slot_alignment(checked.plan) != 0)
      findings.add(fmt::format("{}: a slot at {} overlaps, or is not aligned", name, slot.offset));
    end = slot.offset + slot.elements;
    lowest = std::min(lowest, slot.layer);
    if (is_wide(checked.model, checked.plan, slot.layer) != is_wide(checked.model, checked.plan, bucket.ready_after))
      findings.add(fmt::format("{}: holds numbers of two types", name));
    if (const bool is_whole = is_small(checked, bucket, slot); is_whole != bucket.persistent)
      findings.add(fmt::format("{}: a parameter of layer {} {} whole", name, slot.layer.value(), is_whole ? "does not stay" : "stays"));
  }
  const std::int32_t span = bucket.slots.empty() ? 0 : bucket.slots.front().layer.value() - lowest.value() + 1;
  if (checked.plan.zero_stage == 3 && !bucket.persistent && span > checked.plan.layers_per_unit)
    findings.add(fmt::format("{}: holds {} layers, a unit has {}", name, span, checked.plan.layers_per_unit));
  const bool is_stepped_alone = checked.plan.optimizer_in_backward && checked.plan.mesh.copies() == 1;
  if (is_stepped_alone && span > checked.plan.layers_per_unit)
    findings.add(fmt::format("{}: holds {} layers, and the step of the first waits for the last", name, span));
  if (checked.plan.partition_size > Bytes(0) && span > checked.plan.layers_per_unit)
    findings.add(fmt::format("{}: holds {} layers, whose sums come at different times", name, span));
  const DeviceMesh& mesh = checked.plan.mesh;
  const std::int32_t shards = bucket.expert ? mesh.shards() * mesh.tensor / (mesh.expert * degree_of_experts(mesh)) : mesh.shards();
  if (!bucket.first_of.empty())
    check_bounds(bucket, shards, name, findings);
  else if (bucket.elements < end || bucket.elements != bucket.shard_elements * shards || bucket.shards != shards)
    findings.add(fmt::format("{}: {} elements for {} in {} shards of {}", name, bucket.elements, end, shards, bucket.shard_elements));
  if (bucket.ready_after != lowest)
    findings.add(fmt::format("{}: is ready after layer {} instead of {}", name, bucket.ready_after.value(), lowest.value()));
}

// The rule of the deal, the other way round: nobody has more than another had when it got its last tensor. Experts that not all ranks hold are dealt by themselves.
class Deal {
 public:
  explicit Deal(const std::vector<Bucket>& buckets) {
    for (const Bucket& bucket : buckets)
      for (const BucketSlot& slot : bucket.slots) {
        if (bucket.frozen) {  // whoever had least was dealt it, and counts one more
          some_frozen_ += 1;
          continue;
        }
        if (bucket.first_of.empty()) continue;
        const auto owner = std::upper_bound(bucket.first_of.begin(), bucket.first_of.end(), slot.offset) - bucket.first_of.begin() - 1;
        Hand& hand = hands_[bucket.shards][owner];
        hand.elements += slot.elements;
        const std::pair place{slot.layer, slot.parameter};
        if (place >= hand.last) hand.last = place, hand.last_elements = slot.elements;
      }
  }

  void judge(const std::string& stage, Findings& findings) const {
    for (const auto& [shards, hands] : hands_) {
      std::int64_t least = std::cmp_less(hands.size(), shards) ? 0 : std::numeric_limits<std::int64_t>::max();
      for (const auto& [owner, hand] : hands) least = std::min(least, hand.elements);
      for (const auto& [owner, hand] : hands)
        if (hand.elements - hand.last_elements > least + some_frozen_)
          findings.add(fmt::format("{}: shard {} owns {} elements and was dealt {} more, while another owns {}", stage, owner,
                                   hand.elements - hand.last_elements, hand.last_elements, least));
    }
  }

 private:
  struct Hand {
    std::int64_t elements = 0, last_elements = 0;
    std::pair<LayerIndex, std::int32_t> last{LayerIndex(-1), -1};
  };
  std::map<std::int32_t, std::map<std::ptrdiff_t, Hand>> hands_;  // by the number of shards
  std::int64_t some_frozen_ = 0;
};

void check_deal(const CheckedGraph& checked, StageIndex stage, Findings& findings) {
  const std::vector<Bucket>& buckets = checked.graph.buckets()[stage.position()];
  const bool matrices = checked.plan.workload.optimizer == OptimizerKind::Muon;
  const bool shares = checked.plan.zero_stage == 1 || checked.plan.zero_stage == 2;
  const bool deals = shares && (matrices || checked.plan.state_shards == StateShards::Tensors);
  for (const Bucket& bucket : buckets)
    if (!bucket.frozen && deals == bucket.first_of.empty())
      findings.add(fmt::format("stage {}: tensors are {}", stage.value(), deals ? "cut in even slices" : "dealt whole"));
  Deal(buckets).judge(fmt::format("stage {}", stage.value()), findings);
}

}  // namespace

void check_buckets(const CheckedGraph& checked, Findings& findings) {
  for (StageIndex stage(0); stage.value() < checked.plan.mesh.pipeline; ++stage) {
    check_deal(checked, stage, findings);
    Owned left = parameters_of_stage(checked, stage);
    const std::vector<Bucket>& buckets = checked.graph.buckets()[stage.position()];
    for (std::size_t number = 0; number < buckets.size(); ++number) {
      const std::string name = fmt::format("bucket {} of stage {}", number, stage.value());
      check_shape(checked, buckets[number], name, findings);
      for (const BucketSlot& slot : buckets[number].slots) {
        const auto found = left.find({slot.layer, slot.parameter});
        if (found == left.end() || found->second.elements != slot.elements || found->second.expert != buckets[number].expert)
          findings.add(fmt::format("{}: {} elements of parameter {} of layer {} are not there, or are there twice", name, slot.elements,
                                   slot.parameter, slot.layer.value()));
        else
          left.erase(found);
      }
    }
    for (const auto& [parameter, elements] : left)
      findings.add(
          fmt::format("stage {}: parameter {} of layer {} is in no bucket", stage.value(), parameter.second, parameter.first.value()));
  }
}

}  // namespace sim
