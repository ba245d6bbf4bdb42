#include "sim/cost/memory_effects.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/cost/effect_writer.h"
#include "sim/cost/map_copies.h"
#include "sim/cost/resident_memory.h"
#include "sim/cost/unit_memory.h"
#include "sim/sharding/encoded.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// While a rank makes a momentum orthogonal (executor/kernels/muon.cpp): six matrices as large as it, and five of its shorter side, in the masters' type.
// Of what GPUs' programs take, which multiply in bf16, nothing is known.
Bytes orthogonalizing(const ModelGraph& model, const ParallelPlan& plan, const Bucket& bucket) {
  if (plan.workload.optimizer != OptimizerKind::Muon || plan.cluster.hardware.kind != DeviceKind::Cpu) return {};
  std::int64_t most = 0;
  for (const BucketSlot& slot : bucket.slots) {
    if (!slot.is_matrix_of_block || (!bucket.first_of.empty() && !is_owned_by(bucket, slot, bucket.fullest))) continue;
    const Parameter& parameter = sim::at(model.layer(slot.layer).parameters, slot.parameter);
    const std::int64_t each = slot.elements / (parameter.expert ? plan.model.experts->experts / plan.mesh.expert : 1);
    const std::int64_t shorter = std::min(slot.columns, each / slot.columns);
    most = std::max(most, 6 * each + 5 * shorter * shorter);
  }
  return plan.bytes(Numbers::Masters, bucket.ready_after) * most;
}

bool has_roots(const ParallelPlan& plan) {
  return habits_of(plan.cluster).steps_by_lists && plan.workload.optimizer == OptimizerKind::AdamW;
}

// torch/optim/adamw.py, _multi_tensor_adamw: roots of the second moments of all tensors that a stage's device steps, as wide as these. What DeepSpeed's
// device steps beside the host comes in groups (sub_group_size), one after another.
Bytes roots_of_moments(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) {
  Bytes roots{};
  if (!has_roots(plan)) return roots;
  for (const Bucket& bucket : make_buckets(model, plan, stage))
    if (!bucket.frozen)
      roots += plan.bytes(Numbers::Moments, bucket.ready_after) * (stepped_elements(bucket, plan) - host_elements(bucket, plan));
  constexpr std::int64_t kGroup = 1'000'000'000;
  return plan.offload_optimizer ? std::min(roots, plan.bytes(Numbers::Moments) * kGroup) : roots;
}

bool keeps_inputs(const ParallelPlan& plan) {
  const bool is_one_piece = plan.mesh.pipeline == 1 && plan.mesh.tensor == 1 && plan.mesh.context == 1 && plan.mesh.expert == 1;
  return habits_of(plan.cluster).keeps_block_inputs && plan.model.adapters && is_one_piece && plan.recompute == Recompute::Full &&
         sharding_strategy(plan).shards_parameters && plan.mesh.shards() > 1;
}

ParallelPlan with_all_kept(ParallelPlan plan) {
  plan.recompute = Recompute::None;
  plan.recompute_scope = {};
  return plan;
}

}  // namespace

MemoryEffects::MemoryEffects(const ModelGraph& model, const ParallelPlan& plan, WholeBackwards whole)
    : model_(model),
      plan_(plan),
      apart_(plan_of_units_apart(plan)),
      source_(source_edges(plan)),
      placement_(plan),
      gradients_(model, plan),
      splits_(plan.splits_backward()),
      follows_units_(sim::follows_units(plan)),
      keeps_inputs_(keeps_inputs(plan)),
      whole_(std::move(whole)),
      roots_(count_of(plan.mesh.pipeline)),
      next_backwards_(count_of(plan.mesh.pipeline)),
      come_(model.firsts.size()),
      segments_(model.firsts.size()),
      made_(model.firsts.size()),
      forward_(model.firsts.size()),
      backward_(model.firsts.size()),
      recompute_(model.firsts.size()) {
  const bool makes_again = plan.recompute != Recompute::None || plan.recompute_scope != RecomputeScope{};
  for (const LayerIndex layer : model.firsts) {
    const LayerKind kind = model.kind(layer);
    const bool by_operators = plan.recomputed_modules() == Modules(Module::Op) && is_block(layer);
    std::optional<ParallelPlan> as_made;  // blocks in the head's layer are not made again
    if (makes_again && (layer == model.head() || by_operators)) as_made = with_all_kept(plan_of(layer));
    const ParallelPlan& seen = layer == model.head() && as_made ? *as_made : plan_of(layer);
    for (const SegmentGraph& segment : model.layer(layer).segments) {
      segments_[kind].push_back(with_graph(segment_memory(model, seen, segment), plan, segment));
      if (by_operators) made_[kind].push_back(segment_memory(model, *as_made, segment));
    }
    if (follows_units_) come_[kind] = gradients_come(model, plan_of(layer), model.layer(layer));
    forward_[kind] = forward_pieces(model, plan, layer);
    backward_[kind] = backward_pieces(model, plan, layer);
    recompute_[kind] = recompute_pieces(model, plan, layer);
  }
}

// What is between layers is in the plan's own precision, or wider.
Bytes MemoryEffects::stream() const {
  return stream_in(LayerIndex::none()) / plan_.bytes(Numbers::Activations).value() * plan_.bytes_of_stream().value();
}

MemoryEffects::Role MemoryEffects::role_of(const TaskKey& key) const {
  const LayerKind kind = model_.kind(key.layer);
  const std::vector<SegmentGraph>& segments = model_.layer(key.layer).segments;
  const auto& pieces = key.phase == Phase::Backward ? backward_ : key.phase == Phase::Recompute ? recompute_ : forward_;
  const Parts parts = parts_of(pieces[kind], key.operation, key.sequence);
  const SegmentGraph& segment = sim::at(segments, parts.segment);
  const Ends ends = ends_of(model_, key.layer, parts);
  const bool is_last = std::cmp_equal(parts.segment + 1, segments.size()), by_operators = !made_[kind].empty(),
             again = by_operators && key.phase == Phase::Backward;
  return {.segment = segment,
          .memory = again ? sim::at(made_[kind], parts.segment) : memory_of(key.layer, parts.segment),
          .is_norm = parts.last <= segment.first_core(),
          .is_tail = parts.first > segment.last_core(),
          .has_begin = parts.has(segment.first_core()),
          .has_end = parts.has(segment.last_core()),
          .ends_layer = is_last && std::cmp_equal(parts.last, segment.parts.size()),
          .is_in_last_segment = is_last,
          .is_for_nobody = is_last && !is_read_again(key),
          .splits = splits(key),
          .is_again = is_block(key.layer) && !keeps_nothing(key.layer) && segment.modules.meets(plan_.recomputed_modules()),
          .drops_input = by_operators && parts.segment > 0,
          .made_again = again ? made_again(key.layer, parts.segment) : Bytes{},
          .unread = again && parts.segment == 0 ? unread(key.layer) : Bytes{},
          .stream = stream_in(key.layer),
          .hidden = hidden_in(key.layer),
          .came = stream_to(key.layer),
          .cast_in = ends.reads ? stream_in(key.layer) - stream_to(key.layer) : Bytes{},
          .cast_out = ends.hands_on ? stream_in(key.layer) - stream_to(LayerIndex(key.layer.value() + 1)) : Bytes{},
          .further_out = ends.hands_on ? further_of(key.layer) : Bytes{},
          .further_back = ends.reads ? further_of(key.layer) : Bytes{},
          .plan = &plan_of(key.layer)};
}

MemoryEffect MemoryEffects::of(const Task& task, const TaskGraph& graph) const {
  Writer effect;
  if (task.key.operation == Operation::Update) {
    effect.hold(MemoryCategory::Activations, held_logits(plan_, task.key.stage));  // joined
    effect.hold(MemoryCategory::Temporaries, roots(task, graph));
  }
  if (follows_units_ && task.bucket.exists()) return std::move(effect).finish();
  if (task.bucket.exists() && ends_second_copy(task.key))
    effect.free_at_end(MemoryCategory::GatheredUnits,
                       kept_after_forward(plan_, graph.buckets()[task.key.stage.position()][task.bucket.position()]));
  if (task.key.operation == Operation::Update) end_gradients(effect, task, graph);
  if (is_host_copy(task.key.operation))
    move_input(effect, task, graph);
  else if (plan_.offload_parameters && task.key.operation == Operation::Accumulate)
    effect.free_at_end(MemoryCategory::Gradients, gradient_shard(graph.buckets()[task.key.stage.position()][task.bucket.position()]));
  else if (plan_.post_validation == PostValidation::Copies && (task.key.operation == Operation::Update || validates_step(task.key)))
    copy_to_undo(effect, task, graph);
  else if (is_coding(task.key.operation))
    code(effect, task, graph);
  else if (is_communication(task.key.operation))
    communicate(effect, task, graph);
  else if (task.key.operation == Operation::Reshard)
    reshard(effect, task, graph.buckets()[task.key.stage.position()][task.bucket.position()]);
  else if (task.key.phase == Phase::Backward) {
    model_.config.convolution ? backward_of_maps(effect, task.key) : backward(effect, task.key);
    begin_gradients(effect, task.key, graph);
  } else if (task.key.phase == Phase::Forward || task.key.phase == Phase::Recompute)
    model_.config.convolution ? forward_of_maps(effect, task.key) : forward(effect, task.key);
  else if (task.key.phase == Phase::Weight && splits(task.key))
    put_off(effect, task.key);
  else if (task.key.operation == Operation::Update)
    effect.hold(MemoryCategory::Temporaries,
                orthogonalizing(model_, plan_, graph.buckets()[task.key.stage.position()][task.bucket.position()]));
  return std::move(effect).finish();
}

std::optional<OperatorSteps> MemoryEffects::steps_of(const TaskKey& key) const {
  const bool forward = key.phase == Phase::Forward;
  if (!(forward || key.phase == Phase::Backward) || !key.layer.exists() || moves_data(key.operation)) return {};
  if (come_[model_.kind(key.layer)] == GradientsCome::AtOnce || key.operation == Operation::Reshard) return {};
  const Role role = role_of(key);
  const std::optional<SegmentRun> part = forward ? run_of_forward(role) : run_of_backward(role);
  if (!part) return {};
  if (forward) return head_forward_by_operator(model_, *role.plan, *part);
  OperatorSteps steps = backward_by_operator(model_, *role.plan, role.segment, *part);
  steps.inside =
      MemorySteps().take(MemoryCategory::Activations, role.made_again).add(steps.inside).free(MemoryCategory::Activations, role.unread);
  return steps;
}

// Eagerly a block is made again as a whole, before the backward of its last segment; a compiled one makes what a segment needs in front of it.
Bytes MemoryEffects::made_again(LayerIndex layer, std::int32_t segment) const {
  const std::vector<SegmentMemory>&made = made_[model_.kind(layer)], &kept = segments_[model_.kind(layer)];
  const bool is_last = std::cmp_equal(segment + 1, made.size()), by_segment = habits_of(plan_.cluster).compiled;
  Bytes all{};
  for (std::int32_t each = 0; std::cmp_less(each, made.size()); ++each) {
    if (by_segment ? each != segment : !is_last) continue;
    all += sim::at(made, each).kept + sim::at(made, each).statistics - sim::at(kept, each).kept - sim::at(kept, each).statistics;
    all += sim::at(kept, each).unread;
    if (each > 0) all += stream_in(layer);
  }
  return all;
}
Bytes MemoryEffects::unread(LayerIndex layer) const {
  Bytes all{};
  for (const SegmentMemory& memory : segments_[model_.kind(layer)]) all += memory.unread;
  return all;
}

std::optional<SegmentRun> MemoryEffects::run_of_backward(const Role& role) const {
  if (!cuts_segment(role.segment)) return SegmentRun::Whole;
  if (role.is_norm) return SegmentRun::Norm;
  return role.is_whole() ? std::optional(SegmentRun::Core) : std::nullopt;
}

std::optional<SegmentRun> MemoryEffects::run_of_forward(const Role& role) const {
  if (role.segment.leaves_tensor()) return {};
  if (!cuts_segment(role.segment)) return SegmentRun::Whole;
  if (role.is_norm) return {};
  return role.has_begin ? SegmentRun::Product : role.ends_layer ? SegmentRun::Loss : SegmentRun::Sums;
}

// The task of a segment's weight gradients, behind its backward.
void MemoryEffects::put_off(Writer& effect, const TaskKey& key) const {
  const std::int32_t segment = parts_of(weight_pieces(model_, key.layer), key.operation, key.sequence).segment;
  const SegmentMemory& memory = memory_of(key.layer, segment);
  if (ends_inside(sim::at(model_.layer(key.layer).segments, segment)))
    return effect.free_at_end(MemoryCategory::Activations, memory.inside);
  effect.hold(MemoryCategory::Activations, memory.regathered);
  effect.free_at_end(MemoryCategory::Activations, memory.weight_inputs + memory.output_gradients);
}

// A bound asks of no microbatch: it gets the least of any.
bool MemoryEffects::sends_inputs(const TaskKey& key) const {
  if (plan_.offload_modules.none() || key.phase != Phase::Forward || !key.layer.exists() || !is_block(key.layer)) return false;
  if (!key.microbatch.exists()) return true;
  if (!plan_.sends_modules(key.layer)) return false;
  std::optional<NextBackwards>& known = next_backwards_[key.stage.position()];
  if (!known) known.emplace(plan_, key.stage);
  return !known->keeps(plan_, key.chunk, key.microbatch, key.layer);
}

// What modules have saved is no tensor of the device any more as soon as its copy is asked for: the allocator counts it as free, gives it to nobody before the copy
// has ended (record_stream), and waits for that where it has nothing else (Megatron-Core, bulk_offload; c10, CUDACachingAllocator).
void MemoryEffects::leave_for_host(Writer& effect, const TaskKey& key, const Role& role) const {
  if (role.has_end && sends_inputs(key)) effect.free_at_end(MemoryCategory::Activations, role.memory.on_host);
}

// The input of a block to the host and back; of what modules have saved the way back: it is given up when it leaves (leave_for_host). What the optimizer copies
// stays where it is. Tensors that two modules save cross twice, and those that are made again cross, too: they are none of what is kept.
void MemoryEffects::move_input(Writer& effect, const Task& task, const TaskGraph& graph) const {
  if (plan_.offload_parameters && task.bucket.exists()) return move_weights(effect, task, graph);
  if (task.key.phase != Phase::Forward && task.key.phase != Phase::Backward) return;
  const Bytes moved = plan_.offload_modules.none() ? task.payload : memory_of(task.key.layer, task.key.sequence).on_host;
  if (task.key.phase == Phase::Forward && plan_.offload_modules.none()) effect.free_at_end(MemoryCategory::Activations, moved);
  if (task.key.phase == Phase::Backward) effect.take(MemoryCategory::Activations, moved);
}

// A shard comes into its place in the unit that is gathered then. Gradients leave, and what the host has summed of them comes and leaves again.
void MemoryEffects::move_weights(Writer& effect, const Task& task, const TaskGraph& graph) const {
  const bool is_gradient = task.key.phase == Phase::Gradients, leaves = task.key.operation == Operation::CopyToHost;
  if (is_gradient)
    leaves ? effect.free_at_end(MemoryCategory::Gradients, task.payload) : effect.take(MemoryCategory::Gradients, task.payload);
  else if (task.key.phase != Phase::Step)
    effect.take(MemoryCategory::GatheredUnits, gathered_bytes(plan_, graph.buckets()[task.key.stage.position()][task.bucket.position()]));
}

Bytes MemoryEffects::kept_of_layer(LayerIndex layer) const {
  Bytes kept{};
  for (const SegmentMemory& memory : segments_[model_.kind(layer)]) kept += memory.kept;
  return kept;
}

bool MemoryEffects::has_norm(LayerIndex layer) const {
  const std::vector<SegmentGraph>& segments = model_.layer(layer).segments;
  return std::ranges::any_of(segments, [](const SegmentGraph& segment) { return segment.has(OperatorKind::BatchNorm); });
}

// Layers of maps. What goes from layer to layer is freed by its reader; a part of the pipeline keeps what it receives until its backward. Recomputed
// parts keep that alone, and are made again as a whole: that is done before the backward of their last block.
void MemoryEffects::forward_of_maps(Writer& effect, const TaskKey& key) const {
  const LayerIndex layer = key.layer;
  const LayerRange part = plan_.part_of(layer);
  if (key.phase == Phase::Recompute) {
    if (key.operation == Operation::BatchNorm) return;  // with what stands in front of the exchange
    if (layer.value() + 1 != part.end.value() && LayerIndex(layer.value() + 1) != model_.head()) return;
    for (LayerIndex each = std::max(part.begin, LayerIndex(1)); each <= layer; ++each)
      effect.take(MemoryCategory::Activations, kept_of_layer(each));
    return;
  }
  const bool is_cut = plan_.shares_statistics() && has_norm(layer), ends = key.operation == Operation::BatchNorm || !is_cut;
  if (key.operation != Operation::BatchNorm) {
    forgets(key) ? effect.hold(MemoryCategory::Activations, kept_of_layer(layer))
                 : effect.take(MemoryCategory::Activations, kept_of_layer(layer));
  }
  if (key.operation == Operation::Convolution) effect.hold(MemoryCategory::Temporaries, copies_forward(model_.layer(layer), plan_));
  if (!ends) return;
  effect.take(MemoryCategory::Activations, handed_on(model_, plan_, layer));
  if (layer != part.begin) effect.free_at_end(MemoryCategory::Activations, handed_on(model_, plan_, LayerIndex(layer.value() - 1)));
}

void MemoryEffects::backward_of_maps(Writer& effect, const TaskKey& key) const {
  if (key.operation == Operation::BatchNorm) return;  // sums, that all ranks share before the gradient is made
  const LayerIndex layer = key.layer;
  if (key.operation == Operation::Convolution) effect.hold(MemoryCategory::Temporaries, copies_backward(model_.layer(layer), plan_));
  effect.free_at_end(MemoryCategory::Activations, kept_of_layer(layer) + handed_on(model_, plan_, layer));  // and the gradient that it read
  if (layer == LayerIndex(0)) return;
  const Bytes input = handed_on(model_, plan_, LayerIndex(layer.value() - 1));
  effect.take(MemoryCategory::Activations, input);  // its gradient
  if (layer == plan_.part_of(layer).begin) effect.free_at_end(MemoryCategory::Activations, input);
}

bool MemoryEffects::is_for_nobody(const Task& sum) const {
  if (sum.key.phase != Phase::Recompute || sum.key.operation != Operation::ReduceScatter) return false;
  return std::cmp_equal(piece_of(sum.key).parts.segment + 1, model_.layer(sum.key.layer).segments.size()) && !is_read_again(sum.key);
}

// By the next block, which is made again together with it.
bool MemoryEffects::is_read_again(const TaskKey& key) const {
  return plan_.makes_input_again(LayerIndex(key.layer.value() + 1), key.microbatch);
}

const Piece& MemoryEffects::piece_of(const TaskKey& key) const {
  const auto& pieces = key.phase == Phase::Backward ? backward_ : key.phase == Phase::Recompute ? recompute_ : forward_;
  return *std::ranges::find_if(pieces[model_.kind(key.layer)], [&](const Piece& one) {
    return one.operation == key.operation && one.group == key.group && one.sequence == key.sequence;
  });
}

// Inside the backward each parameter has an optimizer of its own.
Bytes MemoryEffects::roots(const Task& task, const TaskGraph& graph) const {
  if (!plan_.optimizer_in_backward) return roots(task.key.stage);
  if (!has_roots(plan_)) return {};
  const Bucket& bucket = graph.buckets()[task.key.stage.position()][task.bucket.position()];
  const std::int64_t widest = std::ranges::max(bucket.slots, {}, &BucketSlot::elements).elements;
  return plan_.bytes(Numbers::Moments, bucket.ready_after) * (widest / (bucket.elements / stepped_elements(bucket, plan_)));
}

Bytes MemoryEffects::roots(StageIndex stage) const {
  std::optional<Bytes>& known = roots_[stage.position()];
  if (!known) known = roots_of_moments(model_, plan_, stage);
  return *known;
}

// Of the columns of all heads: what a rank made of them is gathered, and its whole heads are copied.
bool MemoryEffects::is_of_heads(const TaskKey& key) const {
  const Parts parts = piece_of(key).parts;
  const SegmentGraph& segment = sim::at(model_.layer(key.layer).segments, parts.segment);
  return sim::at(segment.meets, parts.first).meeting == Meeting::Share;
}

// torch.distributed cuts along the first dimension and tensor ranks along the second: all tokens are copied, unless one sample's are gathered.
bool MemoryEffects::copies_exchanged(const Task& task) const {
  const SoftwareStack& habits = habits_of(plan_.cluster);
  if (comes_early(task)) return false;
  return habits.by_operator && !habits.compiled && (task.key.operation == Operation::ReduceScatter || plan_.microbatch_size > 1);
}

// The gradient of a block that is computed again: it is gathered, and the copy gone, before that begins.
bool MemoryEffects::comes_early(const Task& task) const {
  return task.key.phase == Phase::Backward && task.key.operation == Operation::AllGather && task.key.group == MeshAxis::Tensor &&
         task.key.sequence == 0 && plan_.recomputes(task.key.layer, task.key.microbatch);
}

}  // namespace sim
