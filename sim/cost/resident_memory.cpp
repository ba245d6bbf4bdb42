#include "sim/cost/resident_memory.h"

#include <algorithm>
#include <cmath>

#include "sim/clock/behavior.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/cost/library_workspaces.h"
#include "sim/cost/loss_tokens.h"
#include "sim/cost/unit_memory.h"
#include "sim/plan/drives.h"
#include "sim/sharding/encoded.h"
#include "sim/task_graph/meetings.h"
#include "sim/units/at.h"

namespace sim {
namespace {

Bytes& of(MemoryBreakdown& memory, MemoryCategory category) { return sim::at(memory, category); }

Bytes whole_bytes(double count) { return Bytes(std::llround(count)); }

Bytes bytes_per_sum(const ParallelPlan& plan) {
  const Bytes wide = whole_bytes(habits_of(plan.cluster).accumulate_bytes);
  const Bytes gradient = plan.bytes(Numbers::Gradients);
  return is_sixteen_bit(plan.workload.precision.compute()) ? std::max(gradient, wide) : gradient;
}

// What comes to a stage (not to the embedding), gradients that do (not to the head), and what leaves it; of the head its logits.
Bytes held_between_stages(const ParallelPlan& plan, StageIndex stage) {
  const std::int64_t held = habits_of(plan.cluster).held_messages;
  if (held == 0 || plan.mesh.pipeline == 1) return {};
  const auto message = [&](LayerIndex reader) { return plan.message_into(reader) * plan.num_pieces(); };
  Bytes all{};
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
    const std::int32_t place = plan.virtual_stage({stage, chunk});
    const bool embeds = place == 0, heads = place + 1 == plan.num_virtual_stages();
    const LayerRange range = plan.layers(stage, chunk);
    if (!embeds) all += message(range.begin);
    if (!heads) all += message(range.end) * (held - 1);
  }
  return all + held_logits(plan, stage);
}

// As it is kept; of a rank's shard where parameters are sharded.
Bytes frozen_bytes(const Parameter& parameter, const ParallelPlan& plan, LayerIndex layer) {
  const std::int64_t shards = parameter.expert ? plan.mesh.expert_copies() : plan.mesh.shards();
  return gathered_bytes(plan, slot_of(plan, parameter, layer, 0)) / (sharding_strategy(plan).shards_parameters ? shards : 1);
}

// bitsandbytes: both moments have a scale in fp32 for a block.
Bytes block_scales(std::int64_t elements) { return Bytes(std::int64_t{2} * 4 * ((elements + kMomentBlock - 1) / kMomentBlock)); }

// Of a source and a target, where nothing is trained: a table of sines for each, and the worker's columns of biases by distance, 8 bytes for a query and a key.
Bytes tables_of_stacks(const ParallelPlan& plan, StageIndex stage) {
  if (!plan.model.encoder) return {};
  constexpr std::int64_t kColumn = 8;
  const bool has_distances = plan.model.encoder->relative_buckets > 0 && !habits_of(plan.cluster).keeps_masks,
             has_sines = plan.model.encoder->sines != Sines::None && plan.owns(stage, LayerIndex(0));
  Bytes all{};
  for (const auto& [rows, first] : {std::pair(Tokens::Source, LayerIndex(1)), std::pair(Tokens::Target, LayerIndex(plan.model.layers))}) {
    const std::int64_t tokens = tokens_in(rows, plan.model, plan.workload.sequence);
    if (has_distances && plan.owns(stage, first)) all += Bytes(kColumn * tokens * tokens);
    if (has_sines) all += plan.bytes(Numbers::Weights) * (tokens * plan.model.hidden);
  }
  return all;
}

}  // namespace

// Beside a bucket, or where it is all that is stepped, in the gradient's own type; else alone it is what microbatches are summed in.
Bytes passing_gradient(const ParallelPlan& plan, LayerIndex layer) {
  const bool is_own = has_buckets_beside(plan) || plan.optimizer_in_backward;
  return is_own || plan.is_full(layer) ? plan.bytes(Numbers::Gradients, layer) : bytes_per_sum(plan);
}

Bytes held_logits(const ParallelPlan& plan, StageIndex stage) {
  const bool holds = habits_of(plan.cluster).held_messages > 0 && plan.mesh.pipeline > 1;
  if (!holds || plan.site(plan.num_virtual_stages() - 1).stage != stage) return {};
  const ShardShape shape = plan.shard_shape();
  return plan.bytes(Numbers::Activations, plan.head()) * (shape.tokens() * (plan.model.vocabulary / shape.tensor) * plan.num_pieces());
}

bool shards_masters(const ParallelPlan& plan) {
  return sharding_strategy(plan).shards_parameters && plan.workload.precision.has_masters() && habits_of(plan.cluster).shards_masters;
}

Bytes moment_bytes_per_element(const Workload& workload, const SoftwareStack& program) {
  const Bytes moment = workload.optimizer == OptimizerKind::AdamW8bit ? Bytes(1) : workload.precision.bytes(Numbers::Moments);
  return moment * moments_of(workload.optimizer, program);
}

Bytes optimizer_bytes_per_element(const Workload& workload, const SoftwareStack& program) {
  const Bytes masters = workload.precision.has_masters() ? workload.precision.bytes(Numbers::Masters) : Bytes(0);
  return masters + moment_bytes_per_element(workload, program);
}

Bytes undo_bytes(const ParallelPlan& plan, const Bucket& bucket) {
  if (plan.is_full(bucket.ready_after)) return undo_bytes(in_full_precision(plan), bucket);
  const Bytes weight = plan.workload.precision.has_masters() ? Bytes{} : plan.bytes(Numbers::Weights);
  return (optimizer_bytes_per_element(plan.workload, habits_of(plan.cluster)) + weight) * stepped_elements(bucket, plan);
}

StageElements stage_elements(const ParallelPlan& plan, const std::vector<Bucket>& buckets) {
  const bool by_unit = follows_units(plan), sums_apart = reduces_each(plan) && !by_unit && !has_buckets_beside(plan);
  StageElements elements;
  for (const Bucket& bucket : buckets) {
    if (bucket.frozen) {
      elements.frozen += gathered_bytes(plan, bucket) / std::int64_t{sharding_strategy(plan).shards_parameters ? bucket.shards : 1};
      continue;
    }
    elements.all += bucket.elements;
    if (bucket.persistent) elements.persistent += bucket.elements - bucket.shard_elements;
    elements.of_codecs += codec_state(bucket, plan);
    const std::int64_t owned = by_unit ? elements_in_rows(bucket) / bucket.shards : bucket.shard_elements;
    elements.owned += owned;
    if (by_unit && bucket.shards > 1) elements.passing += owned;
    elements.stepped_matrices += stepped_matrix_elements(bucket, plan);
    if (sums_apart && is_reduced(bucket, plan) && !bucket.tied)  // a tied weight is reduced once, at the end
      elements.summed_apart += sharding_strategy(plan).shards_optimizer ? bucket.shard_elements : bucket.elements;
  }
  return elements;
}

StageElements unpadded_stage_elements(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) {
  ByLayerKind<std::int64_t> layers(model.firsts.size());  // a search asks this of every cut: layers of a kind are added up once
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
    const LayerRange range = plan.layers(stage, chunk);
    for (LayerIndex layer = range.begin; layer < range.end; ++layer) ++layers[model.kind(layer)];
  }
  StageElements elements;
  std::int64_t of_experts = 0, matrices = 0, matrices_of_experts = 0;
  for (const LayerIndex first : model.firsts) {
    const std::int64_t alike = layers[model.kind(first)];
    if (alike == 0) continue;
    for (const Parameter& parameter : model.layer(first).parameters) {
      if (parameter.frozen) {
        elements.frozen += frozen_bytes(parameter, plan, first) * alike;
        continue;
      }
      const BucketSlot slot = slot_of(plan, parameter, first, 0);
      (parameter.expert ? of_experts : elements.all) += slot.elements * alike;
      if (is_stepped_as_matrix(slot, plan)) (parameter.expert ? matrices_of_experts : matrices) += slot.elements * alike;
    }
  }
  if (plan.ties_across_stages() && stage == plan.reader_stage()) {
    const Parameter& table = model.layers.front().parameters.front();
    if (!table.frozen)
      elements.all += table.elements(plan.mesh.tensor);
    else if (!plan.model.adapters)
      elements.frozen += frozen_bytes(table, plan, LayerIndex(0));
  }
  elements.owned = elements.all / plan.mesh.shards() + of_experts / plan.mesh.expert_copies();
  elements.stepped_matrices = sharding_strategy(plan).shards_optimizer
                                  ? matrices / plan.mesh.shards() + matrices_of_experts / plan.mesh.expert_copies()
                                  : matrices + matrices_of_experts;
  elements.all += of_experts;
  if (follows_units(plan)) elements.passing = plan.mesh.expert_copies() > 1 ? elements.owned : elements.owned - of_experts;
  return elements;
}

MemoryBreakdown resident_memory(const ParallelPlan& plan, const StageElements& elements) {
  if (plan.offload_parameters) return {};
  const ShardingStrategy& strategy = sharding_strategy(plan);
  const Bytes element = plan.bytes(Numbers::Weights);
  MemoryBreakdown memory{};
  const Bytes weight = shards_masters(plan) ? plan.bytes(Numbers::Masters) : element;
  of(memory, MemoryCategory::Parameters) =
      weight * (strategy.shards_parameters ? elements.owned : elements.all) + element * elements.persistent + elements.frozen;
  const bool come_and_go = (drops_gradients(plan) || plan.optimizer_in_backward) && !has_buckets_beside(plan);
  const std::int64_t kept = strategy.shards_gradients ? elements.owned - elements.passing : elements.all;
  const std::int64_t resident = come_and_go ? 0 : kept;
  of(memory, MemoryCategory::Gradients) = bytes_per_sum(plan) * (resident + elements.summed_apart) + elements.of_codecs;
  const SoftwareStack& habits = habits_of(plan.cluster);
  if (habits.keeps_both_gradients && !plan.optimizer_in_backward && is_sixteen_bit(plan.workload.precision.compute()))
    of(memory, MemoryCategory::Gradients) += element * elements.all;
  if (plan.offload_optimizer && plan.offload_share == 1) return memory;
  const Bytes state = optimizer_bytes_per_element(plan.workload, habits_of(plan.cluster)) -
                      (shards_masters(plan) ? plan.bytes(Numbers::Masters) : Bytes{}) -
                      (plan.paged_optimizer ? moment_bytes_per_element(plan.workload, habits_of(plan.cluster)) : Bytes{});
  of(memory, MemoryCategory::OptimizerState) = state * (strategy.shards_optimizer ? elements.owned : elements.all);
  if (plan.workload.optimizer == OptimizerKind::Muon || plan.workload.optimizer == OptimizerKind::Adafactor)
    of(memory, MemoryCategory::OptimizerState) -= plan.bytes(Numbers::Moments) * elements.stepped_matrices;
  if (plan.workload.optimizer == OptimizerKind::AdamW8bit)
    of(memory, MemoryCategory::OptimizerState) += block_scales(strategy.shards_optimizer ? elements.owned : elements.all);
  if (strategy.shards_optimizer && !is_sixteen_bit(plan.workload.precision.of(Numbers::Masters)))  // else it steps with what was summed
    of(memory, MemoryCategory::OptimizerState) += whole_bytes(habits.owner_gradient_bytes * static_cast<double>(elements.owned));
  if (plan.offload_optimizer)
    of(memory, MemoryCategory::OptimizerState) -=
        whole_bytes(plan.offload_share * static_cast<double>(of(memory, MemoryCategory::OptimizerState).value()));
  return memory;
}

Bytes host_memory(const ParallelPlan& plan, const StageElements& elements) {
  if (!plan.offload_optimizer) return {};
  const bool swaps = plan.has_on_drive(OnDrive::Optimizer), swaps_weights = plan.has_on_drive(OnDrive::Weights);
  const Drives drives{elements.owned};
  const Bytes states = optimizer_bytes_per_element(plan.workload, habits_of(plan.cluster));
  const Bytes weights = plan.bytes(Numbers::Weights);
  const double share = plan.offload_share;
  const auto stepped = static_cast<std::int64_t>(
      std::ceil(share * static_cast<double>(sharding_strategy(plan).shards_optimizer ? elements.owned : elements.all)));
  const Bytes scales = plan.workload.optimizer == OptimizerKind::AdamW8bit ? block_scales(stepped) : Bytes{};
  return plan.bytes(Numbers::Gradients) * stepped +
         (swaps ? drives.states_buffers(bytes_per_element(Precision::Fp32)) : states * stepped + scales) +
         (swaps_weights ? drives.weights_in_memory(weights) : weights * stepped) + (plan.offload_parameters ? elements.frozen : Bytes{});
}

namespace {

// Calls each(the plan as they see it, elements) for the units in the plan's precision, and for those in full precision where there are any.
template <class Each>
void for_each_precision(const ParallelPlan& plan, const std::vector<Bucket>& buckets, const Each& each) {
  if (!plan.workload.precision.has_full_units()) return each(plan, stage_elements(plan, buckets));
  std::vector<Bucket> full, others;
  for (const Bucket& bucket : buckets) (plan.is_full(bucket.ready_after) ? full : others).push_back(bucket);
  each(plan, stage_elements(plan, others));
  const ParallelPlan in_full = in_full_precision(plan);
  each(in_full, stage_elements(in_full, full));
}

}  // namespace

MemoryBreakdown resident_memory(const ParallelPlan& plan, const std::vector<Bucket>& buckets) {
  MemoryBreakdown all{};
  for_each_precision(plan, buckets, [&](const ParallelPlan& of, const StageElements& elements) {
    const MemoryBreakdown memory = resident_memory(of, elements);
    for (std::size_t category = 0; category < all.size(); ++category) all[category] += memory[category];
  });
  return all;
}

Bytes host_memory(const ParallelPlan& plan, const std::vector<Bucket>& buckets) {
  Bytes all{};
  for_each_precision(plan, buckets, [&](const ParallelPlan& of, const StageElements& elements) { all += host_memory(of, elements); });
  return all;
}

namespace {

constexpr Bytes kTokenId{8};

// The worker keeps each token's loss until the step ends; where a network predicts tokens of its own, the places of the others.
Bytes losses_of_step(const ParallelPlan& plan, StageIndex stage) {
  if (habits_of(plan.cluster).keeps_masks) return {};
  const Bytes each = std::max(plan.bytes(Numbers::Activations), Bytes(4));
  const bool has_head = plan.site(plan.num_virtual_stages() - 1).stage == stage;
  const Bytes losses = has_head ? each * (tokens_with_loss(plan) * plan.num_pieces()) : Bytes{};
  const std::int64_t tokens = plan.shard_shape().tokens() * plan.num_pieces();
  return losses + (plan.model.bidirectional && !plan.model.patches
                       ? whole_bytes((1 - common_behavior().masked_share) * static_cast<double>((kTokenId * tokens).value()))
                       : Bytes{});
}

// That is handed to attention: one for all heads and blocks, for the microbatch at hand.
Bytes mask_of_attention(const ParallelPlan& plan) {
  if (attention_kernel(plan, habits_of(plan.cluster)) != AttentionKernel::EfficientMasked) return {};
  return plan.bytes(Numbers::Activations) * (plan.microbatch_size * plan.workload.sequence * plan.workload.sequence);
}

bool holds_experts(const ParallelPlan& plan, StageIndex stage) {
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
    const LayerRange range = plan.layers(stage, chunk);
    for (LayerIndex layer = range.begin; layer < range.end; ++layer)
      if (LayerIndex(0) < layer && layer < plan.head() &&
          has_experts(plan.model, std::min<std::int64_t>(layer.value(), plan.model.layers) - 1))
        return true;
  }
  return false;
}

// Megatron-Core gathers tokens into a buffer that it never gives back (GlobalMemoryBuffer, tensor_parallel/mappings.py: use_global_buffer).
Bytes gathered_tokens(const ParallelPlan& plan, StageIndex stage) {
  if (!plan.gathers_tokens() || !holds_experts(plan, stage)) return {};
  const DeviceMesh& mesh = plan.mesh;
  const std::int64_t cut = mesh.cuts_experts_apart() ? mesh.expert_cut() : 1;
  return plan.bytes(Numbers::Activations) * (tokens_to_route(plan) * mesh.expert * cut * plan.model.hidden);
}

// Of a number in the tables of a stage: in the type of its blocks, or in both.
Bytes bytes_of_position(const ParallelPlan& plan, StageIndex stage) {
  const Bytes usual = plan.bytes(Numbers::Activations);
  if (plan.workload.precision.full_blocks().empty()) return usual;
  bool has_full = false, has_others = false;
  for (LayerIndex layer{1}; layer.value() <= plan.model.layers; ++layer)
    if (plan.owns(stage, layer)) (plan.is_full(layer) ? has_full : has_others) = true;
  return (has_others || !has_full ? usual : Bytes{}) + (has_full ? bytes_per_element(Precision::Fp32) : Bytes{});
}

// What queries and keys are turned by.
Bytes tables_of_positions(const ParallelPlan& plan, StageIndex stage) {
  if (plan.model.position != Position::Rotary) return {};
  const double written = habits_of(plan.cluster).rotary_bytes;
  const Bytes each = bytes_of_position(plan, stage);
  const std::int64_t numbers =
      plan.workload.sequence / plan.block_ranks() * rotary_width(plan.model) * (plan.model.local_rope_theta > 0 ? 2 : 1);
  return whole_bytes((written > 0 ? written : static_cast<double>(each.value())) * static_cast<double>(numbers));
}

}  // namespace

void add_step_data(MemoryBreakdown& memory, const ParallelPlan& plan, StageIndex stage) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const std::int64_t tokens =
      plan.shard_shape().tokens() * (habits.unit_buffers && plan.mesh.pipeline == 1 ? plan.slices : plan.num_pieces());
  of(memory, MemoryCategory::Activations) +=
      kTokenId * (2 * tokens) + losses_of_step(plan, stage) + held_between_stages(plan, stage) + mask_of_attention(plan);
  if (plan.model.patches && stage == StageIndex(0)) {  // as above
    const PatchForm& form = *plan.model.patches;
    of(memory, MemoryCategory::Activations) +=
        plan.bytes(Numbers::Activations) * (plan.microbatch_size * plan.num_microbatches() * form.channels * form.image * form.image);
  }
  if (plan.model.convolution && stage == StageIndex(0)) {  // images of the step
    const ConvolutionForm& form = *plan.model.convolution;
    of(memory, MemoryCategory::Activations) += plan.bytes(Numbers::Activations) * (tokens * form.channels * form.image * form.image);
  }
  of(memory, MemoryCategory::CommunicationBuffers) += gathered_tokens(plan, stage);
  of(memory, MemoryCategory::OptimizerState) += kStepSummary;
  of(memory, MemoryCategory::Temporaries) += library_workspaces(plan, stage);
  of(memory, MemoryCategory::Parameters) += tables_of_stacks(plan, stage);
  of(memory, MemoryCategory::Parameters) += tables_of_positions(plan, stage);
}

}  // namespace sim
