#include "sim/sharding/sharding.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/model/packed_bytes.h"
#include "sim/sharding/owners.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::array kStrategies = std::to_array<ShardingStrategy>({
    {"ddp", "replicas; gradients are all-reduced", "Li et al., PyTorch Distributed, VLDB 2020", false, false, false},
    {"zero1", "optimizer state sharded", "Rajbhandari et al., ZeRO, SC 2020", true, false, false},
    {"zero2", "optimizer state and gradients sharded", "Rajbhandari et al., ZeRO, SC 2020", true, true, false},
    {"zero3", "parameters too; each unit of layers gathered just in time",
     "Rajbhandari et al., ZeRO, SC 2020; Zhao et al., FSDP, VLDB 2023", true, true, true},
});

std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::int64_t padded_in_rows(const Parameter& parameter, const DeviceMesh& mesh, std::int64_t elements) {
  const std::int64_t shards = parameter.expert ? mesh.expert_copies() : mesh.shards();
  if (parameter.expert || parameter.rows == 0) return round_up(elements, shards);
  const std::int64_t cut = parameter.split == TensorSplit::Rows ? mesh.tensor : 1, columns = elements * cut / parameter.rows;
  if (parameter.row_blocks.empty()) return round_up(parameter.rows / cut, shards) * columns;
  std::int64_t rows = 0;
  for (const std::int64_t block : parameter.row_blocks) rows += round_up(block / cut, shards);
  return rows * columns;
}

// Fills buckets in reverse order of use.
class BucketFiller {
 public:
  struct Kind {
    bool one_bucket_a_unit = false, expert = false, frozen = false, persistent = false, full = false;
  };
  BucketFiller(const ParallelPlan& plan, const Owners& owners, Kind kind)
      : kind_(kind),
        owners_(owners),
        alignment_(slot_alignment(plan)),
        shards_(kind.expert ? plan.mesh.expert_copies() : plan.mesh.shards()),
        element_((kind.full ? bytes_per_element(Precision::Fp32) : plan.bytes(Numbers::Gradients)).value()),
        limit_(plan.bucket_size.value() / element_),
        first_limit_(plan.first_bucket_size.value() > 0 && !kind.expert ? plan.first_bucket_size.value() / element_ : limit_),
        fills_(habits_of(plan.cluster).fills_buckets) {}

  void add(const BucketSlot& slot, ChunkIndex chunk) {
    if (is_full(slot)) close();
    open_.slots.push_back(slot);
    open_.slots.back().offset = open_.elements;
    open_.elements = round_up(open_.elements + slot.elements, alignment_);
    open_.ready_after = slot.layer;
    open_.chunk = chunk;
  }

  void close() {
    if (open_.slots.empty()) return;
    open_.shards = shards_;
    open_.expert = kind_.expert;
    open_.frozen = kind_.frozen;
    open_.persistent = kind_.persistent;
    open_.elements = round_up(open_.elements, shards_ * alignment_);
    open_.shard_elements = open_.elements / shards_;
    if (owners_.are_dealt() && !kind_.frozen) owners_.order(open_);
    buckets_.push_back(std::move(open_));
    open_ = Bucket{};
  }

  std::vector<Bucket> take() && { return std::move(buckets_); }

 private:
  bool is_full(const BucketSlot& next) const {
    if (open_.slots.empty() || kind_.one_bucket_a_unit || kind_.frozen) return false;
    const std::int64_t limit = buckets_.empty() ? first_limit_ : limit_;
    return fills_ ? open_.elements >= limit : open_.elements + next.elements > limit;
  }

  Kind kind_;
  const Owners& owners_;
  std::int64_t alignment_;
  std::int32_t shards_;
  std::int64_t element_;              // bytes of a gradient
  std::int64_t limit_, first_limit_;  // elements; of the bucket that is ready first
  bool fills_;
  Bucket open_;
  std::vector<Bucket> buckets_;
};

// Bytes, where a program's units are no rows of its own.
void lay_out_packed(std::vector<Bucket>& buckets, const ParallelPlan& plan) {
  for (Bucket& bucket : buckets) {
    const bool is_packed = std::ranges::any_of(bucket.slots, [](const BucketSlot& slot) { return slot.packed.value() > 0; });
    if (!is_packed || habits_of(plan.cluster).unit_buffers) continue;
    std::int64_t end = 0;
    for (BucketSlot& slot : bucket.slots) {
      slot.packed_offset = Bytes(end);
      end = round_up(end + gathered_bytes(plan, slot).value(), kSlotAlignment);
    }
    bucket.packed = Bytes(round_up(end, bucket.shards * kSlotAlignment));
  }
}

// Chunk by chunk, last layer first; of one layer experts after the rest. The last `tied` stay last.
void add_in_launch_order(std::vector<Bucket>& buckets, std::vector<Bucket> experts, std::size_t tied) {
  for (Bucket& bucket : experts) {
    const auto end = buckets.end() - static_cast<std::ptrdiff_t>(tied);
    const auto later = std::find_if(buckets.begin(), end, [&](const Bucket& other) {
      return other.chunk < bucket.chunk || (other.chunk == bucket.chunk && other.ready_after < bucket.ready_after);
    });
    buckets.insert(later, std::move(bucket));
  }
}

// The token table or its copy, whose gradients two stages must add up.
bool is_tied_across_stages(const ModelGraph& model, const ParallelPlan& plan, const BucketSlot& slot) {
  const bool is_token_embedding = slot.layer == LayerIndex(0) && slot.parameter == 0;
  const bool is_copy = slot.parameter == static_cast<std::int32_t>(model.layer(slot.layer).parameters.size());
  return is_copy || (is_token_embedding && plan.ties_across_stages());
}

}  // namespace

std::span<const ShardingStrategy> all_sharding_strategies() { return kStrategies; }

const ShardingStrategy& sharding_strategy(const ParallelPlan& plan) { return sim::at(kStrategies, plan.zero_stage); }

bool scatters_gradients(const ParallelPlan& plan) {
  return sharding_strategy(plan).shards_optimizer && plan.gradient_sync == GradientSync::Scatter;
}

std::int64_t elements_in_rows(const Bucket& bucket) {
  std::int64_t all = 0;
  for (const BucketSlot& slot : bucket.slots) all += slot.in_rows;
  return all;
}

std::int64_t moved_elements(const Bucket& bucket, const ParallelPlan& plan) {
  const bool in_rows = habits_of(plan.cluster).unit_buffers && sharding_strategy(plan).shards_parameters && bucket.shards > 1;
  return in_rows ? elements_in_rows(bucket) : bucket.elements;
}

std::int64_t stepped_elements(const Bucket& bucket, const ParallelPlan& plan) {
  return sharding_strategy(plan).shards_optimizer ? bucket.shard_elements : bucket.elements;
}

std::int64_t host_elements(const Bucket& bucket, const ParallelPlan& plan) {
  if (!plan.offload_optimizer) return 0;
  return static_cast<std::int64_t>(std::ceil(plan.offload_share * static_cast<double>(stepped_elements(bucket, plan))));
}

bool is_stepped_as_matrix(const BucketSlot& slot, const ParallelPlan& plan) {
  return plan.workload.optimizer == OptimizerKind::Adafactor ? slot.is_matrix : slot.is_matrix_of_block;
}

std::int64_t stepped_matrix_elements(const Bucket& bucket, const ParallelPlan& plan) {
  std::int64_t all = 0;
  const bool are_dealt = !bucket.first_of.empty();
  for (const BucketSlot& slot : bucket.slots)
    if (is_stepped_as_matrix(slot, plan) && (!are_dealt || is_owned_by(bucket, slot, bucket.fullest))) all += slot.elements;
  return all / (sharding_strategy(plan).shards_optimizer && !are_dealt ? bucket.shards : 1);
}

ShardRange range_of(const Bucket& bucket, std::int32_t shard) {
  if (bucket.first_of.empty())
    return {.begin = bucket.shard_elements == bucket.elements ? 0 : shard * bucket.shard_elements, .count = bucket.shard_elements};
  const std::int64_t begin = sim::at(bucket.first_of, shard);
  return {.begin = begin, .count = sim::at(bucket.first_of, shard + 1) - begin};
}

bool deals_tensors(const ParallelPlan& plan) {
  const bool of_matrices = plan.workload.optimizer == OptimizerKind::Muon;
  return (plan.zero_stage == 1 || plan.zero_stage == 2) && (plan.state_shards == StateShards::Tensors || of_matrices);
}

Bytes sent_bytes(const ParallelPlan& plan, const Bucket& bucket, ShardRange owned) {
  const bool is_cast = plan.weight_sync > WeightSync::Broadcast;
  Bytes all{};
  std::int64_t padding = owned.count;
  for (const BucketSlot& slot : bucket.slots) {
    if (slot.offset < owned.begin || slot.offset >= owned.end()) continue;
    all += is_cast ? bytes_per_element(Precision::Bf16) * slot.elements : gathered_bytes(plan, slot);
    padding -= slot.elements;
  }
  return all + (is_cast ? bytes_per_element(Precision::Bf16) : plan.bytes(Numbers::Weights, bucket.ready_after)) * padding;
}

double orthogonalization_flops(const ParallelPlan& plan, const Parameter& parameter, const BucketSlot& slot) {
  if (plan.workload.optimizer != OptimizerKind::Muon || !slot.is_matrix_of_block) return 0;
  const double matrices = parameter.expert ? static_cast<double>(plan.model.experts->experts) / plan.mesh.expert : 1;
  const auto columns = static_cast<double>(slot.columns);
  const double rows = static_cast<double>(slot.elements) / matrices / columns, m = std::min(rows, columns), n = std::max(rows, columns);
  return matrices * 5 * 2 * m * m * (2 * n + m);
}

std::vector<Parameter> parameters_of(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  std::vector<Parameter> parameters = model.layer(layer).parameters;
  if (plan.holds_copy(layer)) parameters.push_back(model.layers.front().parameters.front());
  return parameters;
}

std::int64_t local_elements(const Parameter& parameter, const DeviceMesh& mesh) {
  return parameter.expert ? parameter.elements(mesh.expert_cut()) / mesh.expert : parameter.elements(mesh.tensor);
}

bool persists(const Parameter& parameter, const ParallelPlan& plan) {
  if (!sharding_strategy(plan).shards_parameters || parameter.frozen || parameter.expert) return false;
  const std::int64_t largest = parameter.row_blocks.empty() ? parameter.rows : std::ranges::max(parameter.row_blocks);
  const std::int64_t cut = parameter.split == TensorSplit::None ? 1 : plan.mesh.tensor;
  return largest * parameter.columns / cut <= plan.persistence_threshold;
}

namespace {

// Experts are dealt out whole: of many equal ones the bytes are their format's.
Bytes packed_bytes_of(const ParallelPlan& plan, const Parameter& parameter) {
  if (!parameter.frozen || !plan.model.adapters || plan.model.adapters->base == BaseFormat::Weights) return {};
  const BaseFormat base = plan.model.adapters->base;
  if (!parameter.expert) return Bytes(packed_bytes(base, parameter, plan.mesh.tensor));
  return Bytes(std::llround(base_bytes(base, 0) * static_cast<double>(local_elements(parameter, plan.mesh))));
}

}  // namespace

BucketSlot slot_of(const ParallelPlan& plan, const Parameter& parameter, LayerIndex layer, std::int32_t position) {
  const bool is_of_block = layer != LayerIndex(0) && layer.value() <= plan.model.layers;
  const std::int64_t cut = parameter.expert ? plan.mesh.expert_cut() : plan.mesh.tensor;
  return {.layer = layer,
          .parameter = position,
          .elements = local_elements(parameter, plan.mesh),
          .in_rows = padded_in_rows(parameter, plan.mesh, local_elements(parameter, plan.mesh)),
          .is_matrix = parameter.columns > 1,
          .is_matrix_of_block = parameter.columns > 1 && is_of_block,
          .unscaled = parameter.unscaled,
          .frozen = parameter.frozen,
          .norm = parameter.norm,
          .columns = std::max<std::int64_t>(1, parameter.columns / (parameter.split == TensorSplit::Columns ? cut : 1)),
          .packed = parameter.columns > 1 && is_of_block ? packed_bytes_of(plan, parameter) : Bytes{}};
}

bool sums_over_tensor(const Parameter& parameter, const ParallelPlan& plan) {
  if (parameter.expert && plan.mesh.cuts_experts_apart()) return false;  // tensor ranks hold different experts, or sum them as copies
  return !parameter.frozen && plan.mesh.tensor > 1 && parameter.split == TensorSplit::None &&
         (plan.sequence_parallel || parameter.partial_gradient);
}

LayerRange unit_of(const ParallelPlan& plan, LayerIndex layer) {
  const LayerRange alone{layer, LayerIndex(layer.value() + 1)};
  const LayerIndex behind(static_cast<std::int32_t>(plan.model.layers) + 1);  // the blocks
  if (plan.layers_per_unit == 1 || layer == LayerIndex(0) || layer >= behind) return alone;
  const LayerRange part = plan.part_of(layer);
  const std::int32_t first = std::max(1, part.begin.value()), end = std::min(behind, part.end).value();
  const std::int32_t begin = layer.value() - (layer.value() - first) % plan.layers_per_unit;
  return {LayerIndex(begin), LayerIndex(std::min(begin + plan.layers_per_unit, end))};
}

Bytes gathered_bytes(const ParallelPlan& plan, const BucketSlot& slot) {
  if (slot.packed.value() > 0) return slot.packed;
  if (slot.norm && !plan.is_full(slot.layer)) return plan.bytes_of_norms() * slot.elements;
  const bool is_scaled = slot.is_matrix_of_block && !slot.frozen && !slot.unscaled && !plan.is_apart(slot.layer);
  return (is_scaled ? plan.workload.precision.gathered_bytes() : plan.bytes(Numbers::Weights, slot.layer)) * slot.elements;
}

Bytes gathered_bytes(const ParallelPlan& plan, const Bucket& bucket) {
  if (bucket.packed.value() > 0) return bucket.packed;
  std::int64_t padding = moved_elements(bucket, plan);
  Bytes all{};
  for (const BucketSlot& slot : bucket.slots) {
    padding -= slot.elements;
    all += gathered_bytes(plan, slot);
  }
  return all + plan.bytes(Numbers::Weights, bucket.ready_after) * padding;
}

bool reshards_after_backward(const ParallelPlan& plan) {
  if (plan.reshard_after_backward != ReshardAfterBackward::AsTheProgram) return plan.reshard_after_backward == ReshardAfterBackward::Each;
  return habits_of(plan.cluster).unit_buffers && sharding_strategy(plan).shards_parameters && plan.mesh.pipeline == 1;
}

bool stays_gathered(const ParallelPlan& plan, ActionKind behind) {
  return !plan.reshard_after_forward || (behind == ActionKind::Backward && plan.reshard_after_backward == ReshardAfterBackward::Last);
}

Bytes kept_after_forward(const ParallelPlan& plan, const Bucket& bucket) {
  const bool keeps = sharding_strategy(plan).shards_parameters && plan.reshard_after_forward && plan.mesh.reshard > 1 && !bucket.expert;
  return keeps ? gathered_bytes(plan, bucket) / std::int64_t{plan.mesh.reshard} : Bytes{};
}

std::vector<Bucket> make_buckets(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) {
  const bool is_stepped_alone = plan.optimizer_in_backward && !plan.mesh.has_copies();  // else with what is reduced
  const bool by_unit = sharding_strategy(plan).shards_parameters || plan.sums_by_priority() || is_stepped_alone;
  const Owners owners(model, plan, stage);
  BucketFiller filler(plan, owners, {.one_bucket_a_unit = by_unit}), experts(plan, owners, {.one_bucket_a_unit = by_unit, .expert = true}),
      frozen(plan, owners, {.one_bucket_a_unit = by_unit, .frozen = true}),
      frozen_experts(plan, owners, {.one_bucket_a_unit = by_unit, .expert = true, .frozen = true}),
      persistent(plan, owners, {.persistent = true}), full(plan, owners, {.one_bucket_a_unit = by_unit, .full = true}),
      full_experts(plan, owners, {.one_bucket_a_unit = by_unit, .expert = true, .full = true});
  const auto close = [&] {
    for (BucketFiller* one : {&filler, &experts, &frozen, &frozen_experts, &full, &full_experts}) one->close();
  };
  const auto filler_of = [&](const Parameter& trained, LayerIndex layer) -> BucketFiller& {
    const bool is_full = plan.is_full(layer);
    if (trained.expert) return is_full ? full_experts : experts;
    return is_full ? full : persists(trained, plan) ? persistent : filler;
  };
  std::vector<std::pair<BucketSlot, ChunkIndex>> tied;
  for (ChunkIndex chunk{plan.chunks - 1}; chunk.exists(); chunk = ChunkIndex(chunk.value() - 1)) {
    const LayerRange range = plan.layers(stage, chunk);
    for (LayerIndex layer(range.end.value() - 1); layer >= range.begin; layer = LayerIndex(layer.value() - 1)) {
      const std::vector<Parameter>& own = model.layer(layer).parameters;  // no copy: a search makes the buckets of thousands of plans
      const auto num_own = static_cast<std::int32_t>(own.size());
      for (std::int32_t at = num_own - (plan.holds_copy(layer) ? 0 : 1); at >= 0; --at) {
        const Parameter& parameter = at < num_own ? sim::at(own, at) : model.layers.front().parameters.front();
        const BucketSlot slot = slot_of(plan, parameter, layer, at);
        if (parameter.frozen)
          (parameter.expert ? frozen_experts : frozen).add(slot, chunk);
        else if (is_tied_across_stages(model, plan, slot))
          tied.emplace_back(slot, chunk);
        else
          filler_of(parameter, layer).add(slot, chunk);
      }
      if (by_unit && unit_of(plan, layer).begin == layer) close();
    }
    close();
    persistent.close();
  }
  for (const auto& [slot, chunk] : tied) {  // its own bucket, last: it waits for the other stage
    filler.add(slot, chunk);
    filler.close();
  }
  std::vector<Bucket> buckets = std::move(filler).take();
  for (BucketFiller* others : {&full, &experts, &full_experts, &frozen, &frozen_experts, &persistent})
    add_in_launch_order(buckets, std::move(*others).take(), tied.size());
  for (std::size_t at = buckets.size() - tied.size(); at < buckets.size(); ++at) buckets[at].tied = true;
  lay_out_packed(buckets, plan);
  return buckets;
}

}  // namespace sim
