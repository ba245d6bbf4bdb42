#include "executor/training/parameter_store.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "executor/training/precision.h"
#include "sim/units/at.h"

namespace executor {
namespace {

at::ScalarType moment_type(sim::OptimizerKind optimizer, const sim::PrecisionPolicy& policy) {
  return optimizer == sim::OptimizerKind::AdamW8bit ? at::kByte : scalar_type(policy.of(sim::Numbers::Moments));
}

// Where a rank stands among those of a group.
std::int32_t place_in(const sim::RankSeries& group, sim::Rank rank) { return (rank.value() - group.first) / group.stride; }

// The ranks that hold the same weights. Experts, whose owner a replica may have but once, are then no shards.
struct Sharers {
  std::int32_t rank = 0;  // in its replica
  bool shard = false, sum = false;
};
Sharers sharers_of(const sim::DeviceMesh& mesh, sim::Rank rank, bool experts) {
  if (!experts) return {.rank = mesh.coordinate(rank).data % mesh.shards(), .shard = mesh.copies() > 1, .sum = mesh.copies() > 1};
  return {.rank = place_in(mesh.of_experts(rank, sim::MeshAxis::ExpertData), rank),
          .shard = mesh.expert_copies() > 1,
          .sum = mesh.expert_copies() * mesh.replicas > 1};
}

BucketPlan bucket_plan(const sim::ParallelPlan& plan, const Sharers& sharers, c10::Device device) {
  const sim::ShardingStrategy& strategy = sim::sharding_strategy(plan);
  return {.shards_weights = (sharers.shard && strategy.shards_parameters) || plan.offload_parameters,
          .shards_gradients = sharers.shard && strategy.shards_gradients && !plan.offload_parameters,
          .shards_optimizer = sharers.shard && strategy.shards_optimizer,
          .sums_microbatches =
              (sharers.sum || plan.offload_parameters) && plan.accumulation == sim::Accumulation::ReduceEach && plan.num_microbatches() > 1,
          .offloads_optimizer = plan.offload_optimizer,
          .weights_on_host = plan.offload_parameters,
          .gives_up_gradients = plan.optimizer_in_backward,
          .data_rank = sharers.rank,
          .options = at::TensorOptions().device(device),
          .moments = sim::moments_of(plan.workload.optimizer),
          .matrices_keep_one = plan.workload.optimizer == sim::OptimizerKind::Muon};
}

// As its unit has them.
void put_types(BucketPlan& bucket, const sim::PrecisionPolicy& policy, sim::OptimizerKind optimizer) {
  bucket.options = bucket.options.dtype(scalar_type(policy.of(sim::Numbers::Weights)));
  bucket.gradient_type = scalar_type(policy.of(sim::Numbers::Gradients));
  bucket.master_type = scalar_type(policy.of(sim::Numbers::Masters));
  bucket.moment_type = moment_type(optimizer, policy);
}

TensorPosition position_of(const sim::DeviceMesh& mesh, sim::Rank rank) {
  return {.degree = mesh.tensor,
          .rank = mesh.coordinate(rank).tensor,
          .expert_degree = mesh.expert,
          .expert_rank = place_in(mesh.of_experts(rank, sim::MeshAxis::Expert), rank),
          .expert_cut = mesh.expert_cut(),
          .expert_part = place_in(mesh.of_experts(rank, sim::MeshAxis::ExpertTensor), rank),
          .context = mesh.context};
}

}  // namespace

ParameterStore::ParameterStore(const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Rank rank, c10::Device device)
    : model_(model),
      tensor_(position_of(plan.mesh, rank)),
      device_(device),
      seed_(plan.training.seed),
      recipe_(plan.workload.precision.scales()),
      microbatch_(plan.mesh.coordinate(rank).data % plan.mesh.shards() / plan.mesh.context),
      scales_(model, plan, device) {
  const sim::StageIndex stage = plan.mesh.coordinate(rank).stage;
  const BucketPlan every = bucket_plan(plan, sharers_of(plan.mesh, rank, /*experts=*/false), device),
                   of_experts = bucket_plan(plan, sharers_of(plan.mesh, rank, /*experts=*/true), device);
  options_ = every.options.dtype(scalar_type(plan.workload.precision.of(sim::Numbers::Weights)));
  if (plan.model.adapters && plan.model.adapters->base != sim::BaseFormat::Weights) packed_ = plan.model.adapters->base;
  for (sim::Bucket& bucket : sim::make_buckets(model, plan, stage)) {
    BucketPlan own = bucket.expert ? of_experts : every;
    put_types(own, plan.precision_of(bucket.ready_after), plan.workload.optimizer);
    own.shards_weights = own.shards_weights && !bucket.persistent;
    own.sums_microbatches = own.sums_microbatches && !bucket.tied;  // a tied embedding is reduced once, at the end
    buckets_.emplace_back(std::move(bucket), own);
  }
  layers_.resize(model.layers.size());
  for (sim::LayerIndex layer{0}; layer <= model.head(); ++layer)
    if (plan.owns(stage, layer)) layers_[layer.position()].parameters = sim::parameters_of(model, plan, layer);
  make_leaves(plan);
  if (plan.model.convolution) make_running_statistics();
  const sim::LayerIndex reads = plan.embedding_reader();
  if (!plan.reads_embedding(reads) || !plan.owns(stage, reads)) return;
  OwnedLayer& reader = layers_[reads.position()];
  const OwnedLayer& embedding = layers_.front();
  reader.parameters.push_back(embedding.parameters.front());
  reader.leaves.push_back(embedding.leaves.front());
  for (std::size_t at = 0; at < buckets_.size(); ++at)
    for (const sim::BucketSlot& slot : buckets_[at].layout().slots)
      if (slot.layer == sim::LayerIndex(0) && slot.parameter == 0) reader.buckets.push_back(at);
}

void ParameterStore::make_leaves(const sim::ParallelPlan& plan) {
  for (OwnedLayer& layer : layers_) layer.leaves.resize(layer.parameters.size());
  for (std::size_t at = 0; at < buckets_.size(); ++at)
    for (const sim::BucketSlot& slot : buckets_[at].layout().slots) {
      OwnedLayer& layer = layers_[slot.layer.position()];
      const auto position = static_cast<std::size_t>(slot.parameter);
      const TensorPart part(layer.parameters[position], tensor_);
      const std::vector<std::int64_t> vector{part.rows()}, matrix{part.rows(), part.columns()};
      layer.leaves[position] = buckets_[at].leaf(slot, layer.parameters[position].weight_decay ? matrix : vector);
      if (slot.packed.value() > 0) layer.leaves[position].packed = packing_of(slot);
      if (recipe_ && slot.is_matrix_of_block && !slot.unscaled && !plan.is_unscaled(slot.layer))
        layer.leaves[position].scaled = scaling_of(plan, slot);
      if (std::find(layer.buckets.begin(), layer.buckets.end(), at) == layer.buckets.end()) layer.buckets.push_back(at);
    }
}

// The scale of a norm is what begins as ones.
void ParameterStore::make_running_statistics() {
  const at::TensorOptions wide = options_.dtype(options_.dtype() == at::kDouble ? at::kDouble : at::kFloat);
  for (OwnedLayer& layer : layers_)
    for (const sim::Parameter& parameter : layer.parameters) {
      if (parameter.initial != sim::InitialValue::Ones) continue;
      layer.running = {.scale = &parameter,
                       .statistics = {.mean = at::zeros({parameter.rows}, wide), .variance = at::ones({parameter.rows}, wide)}};
    }
}

FlatBucket::Bytes ParameterStore::bytes() const {
  FlatBucket::Bytes all;
  for (const FlatBucket& bucket : buckets_) {
    const FlatBucket::Bytes held = bucket.bytes();
    all = {.weights = all.weights + held.weights,
           .gradients = all.gradients + held.gradients,
           .optimizer = all.optimizer + held.optimizer,
           .host = all.host + held.host};
  }
  return all;
}

const sim::Parameter& ParameterStore::parameter(const sim::BucketSlot& slot) const {
  return sim::at(layers_[slot.layer.position()].parameters, slot.parameter);
}

ParameterStore::SlotPart ParameterStore::meet(const sim::BucketSlot& slot, BucketRange range) {
  const std::int64_t begin = std::max(slot.offset, range.begin), end = std::min(slot.offset + slot.elements, range.end());
  if (begin >= end) return {};
  return {.range = {.begin = begin, .count = end - begin}, .from = {begin - slot.offset}};
}

std::vector<ParameterStore::ReplicatedPart> ParameterStore::replicated_gradients(const sim::ParallelPlan& plan) const {
  std::vector<ReplicatedPart> parts;
  std::int64_t begin = 0;
  for (const FlatBucket& bucket : buckets_)
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      if (!sim::sums_over_tensor(parameter(slot), plan)) continue;
      const SlotPart part = meet(slot, bucket.stepped());
      if (part.range.count > 0) parts.push_back({.gradient = bucket.final_gradients(part.range), .begin = begin + part.from.value});
      begin += slot.elements;
    }
  return parts;
}

at::ScalarType ParameterStore::replicated_type(const sim::ParallelPlan& plan) const {
  sim::Precision widest = plan.workload.precision.of(sim::Numbers::Wire);
  for (const FlatBucket& bucket : buckets_)
    for (const sim::BucketSlot& slot : bucket.layout().slots)
      if (sim::sums_over_tensor(parameter(slot), plan) && plan.is_full(slot.layer))
        widest = plan.precision_of(slot.layer).of(sim::Numbers::Wire);
  return scalar_type(widest);
}

std::shared_ptr<const PackedWeight> ParameterStore::packing_of(const sim::BucketSlot& slot) const {
  return std::make_shared<const PackedWeight>(*packed_, parameter(slot), tensor_, c10::typeMetaToScalarType(options_.dtype()));
}

// Products are counted over all stages.
std::shared_ptr<const ScaledProduct> ParameterStore::scaling_of(const sim::ParallelPlan& plan, const sim::BucketSlot& slot) const {
  std::int64_t before = 0;
  for (sim::LayerIndex layer{1}; layer <= slot.layer; ++layer) {
    const std::vector<sim::Parameter>& parameters = model_.layer(layer).parameters;
    before +=
        std::count_if(parameters.begin(), layer < slot.layer ? parameters.end() : parameters.begin() + slot.parameter, sim::is_scaled);
  }
  return std::make_shared<const ScaledProduct>(*recipe_, scales_.of_product(before), agreement_of(plan, parameter(slot)));
}

ScaleAgreement ParameterStore::agreement_of(const sim::ParallelPlan& plan, const sim::Parameter& parameter) const {
  if (!sim::asks_within_computations(plan)) return {};
  const bool is_cut = tensor_.cut_of(parameter).degree > 1, has_tiles = sim::scales_tiles(*recipe_);
  return {.split = is_cut ? parameter.split : sim::TensorSplit::None,
          .cuts_tokens = sim::cuts_tokens(plan, parameter.expert),
          .tiles_of_tokens = has_tiles ? sim::tiles_of_tokens(plan) : 0,
          .microbatches = sim::microbatches_agreed(plan, parameter.expert),
          .microbatch = microbatch_,
          .share = sim::sums_before_rounding(plan, parameter) ? 1.0 / plan.mesh.tensor : 1,
          .ranks = questions_};
}

void ParameterStore::put_frozen(FlatBucket& bucket, const sim::BucketSlot& slot, const at::Tensor& whole) {
  at::Tensor bytes;
  if (slot.packed.value() > 0) {
    bytes = packing_of(slot)->pack(whole);
  } else {
    const TensorPart part(parameter(slot), tensor_);
    const at::Tensor values = at::empty({part.elements()}, whole.options());
    take_part(values, whole, part, {});
    bytes = values.view(at::kByte);
  }
  bucket.put_packed(slot, bytes);
}

void ParameterStore::put_whole(FlatBucket& bucket, const sim::BucketSlot& slot, const at::Tensor& whole) {
  if (bucket.is_packed()) return put_frozen(bucket, slot, whole.to(c10::typeMetaToScalarType(options_.dtype())).contiguous().view(-1));
  const TensorPart place(parameter(slot), tensor_);
  const at::Tensor numbers = whole.to(bucket.master({.begin = bucket.stepped().begin, .count = 0}).scalar_type()).contiguous().view(-1);
  const auto fill = [&](const SlotPart& part, const at::Tensor& into) {
    const at::Tensor values = at::empty({part.range.count}, numbers.options());
    take_part(values, numbers, place, part.from);
    into.copy_(values);
  };
  const auto resident = meet(slot, bucket.resident()), stepped = meet(slot, bucket.stepped());
  if (resident.range.count > 0) fill(resident, bucket.weights_of(resident.range));
  if (stepped.range.count > 0 && bucket.has_master()) fill(stepped, bucket.master(stepped.range));
}

void ParameterStore::fill(FlatBucket& bucket, const sim::BucketSlot& slot) {
  InitialWeights initial{.seed = seed_, .tensor = tensor_, .vocabulary = model_.config.vocabulary};
  if (bucket.is_packed()) {
    initial.tensor = {};
    at::Tensor whole = at::empty({parameter(slot).elements()}, options_.device(at::kCPU));
    fill_initial(whole, parameter(slot), {}, initial);
    return put_frozen(bucket, slot, whole);
  }
  const auto put = [&](const SlotPart& part, at::Tensor values) { fill_initial(values, parameter(slot), part.from, initial); };
  const SlotPart weights = meet(slot, bucket.resident()), master = meet(slot, bucket.stepped());
  if (weights.range.count > 0) put(weights, bucket.weights_of(weights.range));
  if (master.range.count > 0 && bucket.has_master()) put(master, bucket.master(master.range));
}

void ParameterStore::fill_trained_values() {
  for (FlatBucket& bucket : buckets_) {
    if (bucket.layout().frozen) continue;
    for (const sim::BucketSlot& slot : bucket.layout().slots) fill(bucket, slot);
    bucket.stage_weights();
  }
}

void ParameterStore::fill_initial_values() {
  fill_trained_values();
  for (FlatBucket& bucket : buckets_)
    if (bucket.layout().frozen)
      for (const sim::BucketSlot& slot : bucket.layout().slots) fill(bucket, slot);
}

void ParameterStore::begin_step() {
  for (FlatBucket& bucket : buckets_) bucket.begin_step();
}

void ParameterStore::start_gradients(sim::LayerIndex layer) {
  for (const std::size_t at : layers_[layer.position()].buckets) buckets_[at].start_gradients();
}

}  // namespace executor
