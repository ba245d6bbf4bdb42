#include "sim/sharding/owners.h"

#include <algorithm>
#include <vector>

#include "sim/units/at.h"

namespace sim {
namespace {

// What an owner keeps of a tensor beside its weights.
Bytes owned_bytes(const BucketSlot& slot, const ParallelPlan& plan) {
  const PrecisionPolicy policy = plan.precision_of(slot.layer);
  const bool keeps_one_less = plan.workload.optimizer == OptimizerKind::Muon || plan.workload.optimizer == OptimizerKind::Adafactor;
  const std::int64_t moments =
      moments_of(plan.workload.optimizer, habits_of(plan.cluster)) - (keeps_one_less && is_stepped_as_matrix(slot, plan) ? 1 : 0);
  Bytes each = policy.bytes(Numbers::Moments) * moments;
  if (policy.has_masters()) each += policy.bytes(Numbers::Masters);
  if (sharding_strategy(plan).shards_gradients) each += policy.bytes(Numbers::Gradients);
  return each * slot.elements;
}

class Hands {
 public:
  explicit Hands(std::int32_t ranks) : elements_(count_of(ranks)), bytes_(count_of(ranks)), flops_(count_of(ranks)) {}

  std::int32_t deal(const BucketSlot& slot, const Parameter& parameter, const ParallelPlan& plan) {
    const auto least = std::min_element(elements_.begin(), elements_.end());
    const auto owner = static_cast<std::int32_t>(least - elements_.begin());
    *least += slot.frozen ? 1 : slot.elements;
    if (slot.frozen) return owner;
    sim::at(bytes_, owner) += owned_bytes(slot, plan);
    sim::at(flops_, owner) += orthogonalization_flops(plan, parameter, slot);
    return owner;
  }
  Owners::Extremes extremes() const { return {.fullest = most_of(bytes_), .busiest = most_of(flops_)}; }

 private:
  template <class Value>
  static std::int32_t most_of(const std::vector<Value>& hands) {
    return static_cast<std::int32_t>(std::max_element(hands.begin(), hands.end()) - hands.begin());
  }

  std::vector<std::int64_t> elements_;
  std::vector<Bytes> bytes_;
  std::vector<double> flops_;
};

}  // namespace

Owners::Owners(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) : alignment_(slot_alignment(plan)) {
  if (!deals_tensors(plan)) return;
  const bool apart = plan.mesh.expert_copies() != plan.mesh.shards();
  Hands ranks(plan.mesh.shards()), of_experts(plan.mesh.expert_copies());
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk)
    for (LayerIndex layer = plan.layers(stage, chunk).begin; layer < plan.layers(stage, chunk).end; ++layer) {
      const std::vector<Parameter> parameters = parameters_of(model, plan, layer);
      for (std::int32_t at = 0; std::cmp_less(at, parameters.size()); ++at) {
        const Parameter& parameter = sim::at(parameters, at);
        owner_[{layer, at}] = (parameter.expert && apart ? of_experts : ranks).deal(slot_of(plan, parameter, layer, at), parameter, plan);
      }
    }
  of_all_ = ranks.extremes();
  of_experts_ = apart ? of_experts.extremes() : of_all_;
}

// The bucket ends with its last slot: nobody needs equal parts of it.
void Owners::order(Bucket& bucket) const {
  std::stable_sort(bucket.slots.begin(), bucket.slots.end(), [&](const BucketSlot& a, const BucketSlot& b) { return of(a) < of(b); });
  bucket.first_of.assign(count_of(bucket.shards + 1), 0);
  bucket.elements = 0;
  for (BucketSlot& slot : bucket.slots) {
    slot.offset = bucket.elements;
    bucket.elements += (slot.elements + alignment_ - 1) / alignment_ * alignment_;
    std::fill(bucket.first_of.begin() + of(slot) + 1, bucket.first_of.end(), bucket.elements);
  }
  const Extremes& extremes = bucket.expert ? of_experts_ : of_all_;
  bucket.fullest = extremes.fullest;
  bucket.busiest = extremes.busiest;
  bucket.shard_elements = range_of(bucket, bucket.fullest).count;
}

}  // namespace sim
