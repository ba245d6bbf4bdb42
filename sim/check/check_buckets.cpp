#include <fmt/format.h>

#include <map>
#include <utility>

#include "sim/check/graph_rules.h"

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
    const bool holds_copy = checked.plan.ties_across_stages() && layer == checked.model.head();
    if (holds_copy) owned[{layer, number}] = {checked.model.layers.front().parameters.front().elements(mesh.tensor), false};
  }
  return owned;
}

void check_shape(const CheckedGraph& checked, const Bucket& bucket, const std::string& name, Findings& findings) {
  std::int64_t end = 0;
  LayerIndex lowest = checked.model.head();
  for (const BucketSlot& slot : bucket.slots) {
    if (slot.offset < end || slot.offset % kSlotAlignment != 0)
      findings.add(fmt::format("{}: a slot at {} overlaps, or is not aligned", name, slot.offset));
    end = slot.offset + slot.elements;
    lowest = std::min(lowest, slot.layer);
  }
  const std::int32_t span = bucket.slots.empty() ? 0 : bucket.slots.front().layer.value() - lowest.value() + 1;
  if (checked.plan.zero_stage == 3 && span > checked.plan.layers_per_unit)
    findings.add(fmt::format("{}: holds {} layers, a unit has {}", name, span, checked.plan.layers_per_unit));
  if (checked.plan.partition_size > Bytes(0) && span > checked.plan.layers_per_unit)
    findings.add(fmt::format("{}: holds {} layers, whose sums come at different times", name, span));
  const DeviceMesh& mesh = checked.plan.mesh;
  const std::int32_t shards = bucket.expert ? mesh.shards() * mesh.tensor / (mesh.expert * degree_of_experts(mesh)) : mesh.shards();
  if (bucket.elements < end || bucket.elements != bucket.shard_elements * shards || bucket.shards != shards)
    findings.add(fmt::format("{}: {} elements for {} in {} shards of {}", name, bucket.elements, end, shards, bucket.shard_elements));
  if (bucket.ready_after != lowest)
    findings.add(fmt::format("{}: is ready after layer {} instead of {}", name, bucket.ready_after.value(), lowest.value()));
}

}  // namespace

void check_buckets(const CheckedGraph& checked, Findings& findings) {
  for (StageIndex stage(0); stage.value() < checked.plan.mesh.pipeline; ++stage) {
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
