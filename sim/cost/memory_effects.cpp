#include "sim/cost/memory_effects.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/cost/effect_writer.h"
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
    const std::int64_t shorter = std::min(parameter.columns, each / parameter.columns);
    most = std::max(most, 6 * each + 5 * shorter * shorter);
  }
  return plan.bytes(Numbers::Masters) * most;
}

// torch/optim/adamw.py, _multi_tensor_adamw: roots of the second moments of all tensors that the rank steps, as wide as these.
Bytes roots_of_moments(const ParallelPlan& plan, const std::vector<Bucket>& buckets) {
  if (!habits_of(plan.cluster).steps_by_lists || plan.workload.optimizer != OptimizerKind::AdamW || plan.offload_optimizer) return {};
  std::int64_t stepped = 0;
  for (const Bucket& bucket : buckets)
    if (!bucket.frozen) stepped += stepped_elements(bucket, plan);
  return plan.bytes(Numbers::Moments) * stepped;
}

bool keeps_inputs(const ParallelPlan& plan) {
  const bool is_one_piece = plan.mesh.pipeline == 1 && plan.mesh.tensor == 1 && plan.mesh.context == 1 && plan.mesh.expert == 1;
  return habits_of(plan.cluster).keeps_block_inputs && plan.model.adapters && is_one_piece && plan.recompute == Recompute::Full &&
         sharding_strategy(plan).shards_parameters && plan.mesh.shards() > 1;
}

// What is made again are blocks.
std::optional<ParallelPlan> ends_in_full(const ParallelPlan& plan) {
  if (!plan.workload.precision.has_full_units()) return {};
  ParallelPlan full = in_full_precision(plan);
  full.recompute = Recompute::None;
  full.recompute_scope = {};
  return full;
}

}  // namespace

MemoryEffects::MemoryEffects(const ModelGraph& model, const ParallelPlan& plan)
    : model_(model),
      plan_(plan),
      full_(ends_in_full(plan)),
      source_(source_edges(plan)),
      placement_(plan),
      gradients_(model, plan),
      splits_(plan.splits_backward()),
      follows_units_(sim::follows_units(plan)),
      keeps_inputs_(keeps_inputs(plan)),
      whole_(plan),
      come_(model.firsts.size()),
      segments_(model.firsts.size()),
      made_(model.firsts.size()),
      forward_(model.firsts.size()),
      backward_(model.firsts.size()),
      recompute_(model.firsts.size()) {
  std::optional<ParallelPlan> as_made;  // blocks in the head's layer are not made again
  if (plan.recompute != Recompute::None || plan.recompute_scope != RecomputeScope{}) {
    as_made = plan;
    as_made->recompute = Recompute::None;
    as_made->recompute_scope = {};
  }
  for (const LayerIndex layer : model.firsts) {
    const LayerKind kind = model.kind(layer);
    const ParallelPlan& seen = layer == model.head() && as_made && !plan.is_full(layer) ? *as_made : plan_of(layer);
    for (const SegmentGraph& segment : model.layer(layer).segments)
      segments_[kind].push_back(with_graph(segment_memory(model, seen, segment), plan, segment));
    if (plan.recomputed_modules() == Modules(Module::Op) && is_block(layer))
      for (const SegmentGraph& segment : model.layer(layer).segments) made_[kind].push_back(segment_memory(model, *as_made, segment));
    if (follows_units_) come_[kind] = gradients_come(model, plan_of(layer), model.layer(layer));
    forward_[kind] = forward_pieces(model, plan, layer);
    backward_[kind] = backward_pieces(model, plan, layer);
    recompute_[kind] = recompute_pieces(model, plan, layer);
  }
}

// Blocks and what is between layers are in the plan's own precision.
Bytes MemoryEffects::stream() const { return stream_in(LayerIndex::none()); }

// A unit in full precision reads another one's stream, or hands its own on to it.
Bytes MemoryEffects::cast_at(LayerIndex layer, const Parts& parts, const SegmentGraph& segment) const {
  const bool is_at_end = layer == LayerIndex(0) ? std::cmp_equal(parts.last, segment.parts.size()) : parts.first == 0;
  return is_at_end ? stream_in(layer) - stream() : Bytes{};
}

MemoryEffects::Role MemoryEffects::role_of(const TaskKey& key) const {
  const LayerKind kind = model_.kind(key.layer);
  const std::vector<SegmentGraph>& segments = model_.layer(key.layer).segments;
  const auto& pieces = key.phase == Phase::Backward ? backward_ : key.phase == Phase::Recompute ? recompute_ : forward_;
  const Parts parts = parts_of(pieces[kind], key.operation);
  const SegmentGraph& segment = sim::at(segments, parts.segment);
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
          .splits = splits(key),
          .is_again = is_block(key.layer) && !keeps_nothing(key.layer) && segment.modules.meets(plan_.recomputed_modules()),
          .drops_input = by_operators && parts.segment > 0,
          .made_again = again ? made_again(key.layer, parts.segment) : Bytes{},
          .unread = again && parts.segment == 0 ? unread(key.layer) : Bytes{},
          .stream = stream_in(key.layer),
          .hidden = hidden_in(key.layer),
          .cast = cast_at(key.layer, parts, segment)};
}

MemoryEffect MemoryEffects::of(const Task& task, const TaskGraph& graph) const {
  Writer effect;
  if (task.key.operation == Operation::Update) {
    effect.hold(MemoryCategory::Activations, held_logits(plan_, task.key.stage));  // joined
    effect.hold(MemoryCategory::Temporaries, roots_of_moments(plan_, graph.buckets()[task.key.stage.position()]));
  }
  if (follows_units_ && task.bucket.exists()) return std::move(effect).finish();
  if (task.bucket.exists() && ends_second_copy(task.key))
    effect.free_at_end(MemoryCategory::GatheredUnits,
                       kept_after_forward(plan_, graph.buckets()[task.key.stage.position()][task.bucket.position()]));
  if (gradients_.ends_with_step() && task.key.operation == Operation::Update) end_beside_buckets(effect, task, graph);
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
  if (forward) return head_forward_by_operator(model_, plan_, *part);
  OperatorSteps steps = backward_by_operator(model_, plan_, role.segment, *part);
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
    if (each > 0) all += stream();
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
  const std::int32_t segment = parts_of(weight_pieces(model_, key.layer), key.operation).segment;
  const SegmentMemory& memory = memory_of(key.layer, segment);
  if (ends_inside(sim::at(model_.layer(key.layer).segments, segment)))
    return effect.free_at_end(MemoryCategory::Activations, memory.inside);
  effect.hold(MemoryCategory::Activations, memory.regathered);
  effect.free_at_end(MemoryCategory::Activations, memory.weight_inputs + memory.output_gradients);
}

// The input of a block, to the host and back; what the optimizer copies stays where it is.
void MemoryEffects::move_input(Writer& effect, const Task& task, const TaskGraph& graph) const {
  if (plan_.offload_parameters && task.bucket.exists()) return move_weights(effect, task, graph);
  if (task.key.phase == Phase::Forward) effect.free_at_end(MemoryCategory::Activations, task.payload);
  if (task.key.phase == Phase::Backward) effect.take(MemoryCategory::Activations, task.payload);
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
  if (!ends) return;
  effect.take(MemoryCategory::Activations, handed_on(model_, plan_, layer));
  if (layer != part.begin) effect.free_at_end(MemoryCategory::Activations, handed_on(model_, plan_, LayerIndex(layer.value() - 1)));
}

void MemoryEffects::backward_of_maps(Writer& effect, const TaskKey& key) const {
  if (key.operation == Operation::BatchNorm) return;  // sums, that all ranks share before the gradient is made
  const LayerIndex layer = key.layer;
  effect.free_at_end(MemoryCategory::Activations, kept_of_layer(layer) + handed_on(model_, plan_, layer));  // and the gradient that it read
  if (layer == LayerIndex(0)) return;
  const Bytes input = handed_on(model_, plan_, LayerIndex(layer.value() - 1));
  effect.take(MemoryCategory::Activations, input);  // its gradient
  if (layer == plan_.part_of(layer).begin) effect.free_at_end(MemoryCategory::Activations, input);
}

// A block that is recomputed keeps its input alone: what the forward makes besides is gone when it ends.
void MemoryEffects::forward(Writer& effect, const TaskKey& key) const {
  const bool again = key.phase == Phase::Recompute, is_forgotten = forgets(key);
  const Role role = role_of(key);
  cast_forward(effect, role);
  if (role.is_norm) norm_forward(effect, role, is_forgotten);
  if (role.has_begin || role.has_end) {
    if (role.has_begin) effect.hold(MemoryCategory::Activations, role.memory.regathered + role.memory.dropped);
    role.is_again ? module_forward(effect, role, again) : core_forward(effect, role, is_forgotten, again);
    if (!role.has_end) effect.take_at_end(MemoryCategory::CommunicationBuffers, role.memory.exchanged);
    if (!role.has_begin) effect.take(MemoryCategory::CommunicationBuffers, -role.memory.exchanged);
  }
  if (role.has_begin && !role.has_end) effect.take(MemoryCategory::Activations, -role.memory.inside);
  if (role.is_inside()) effect.take(MemoryCategory::Activations, role.memory.inside);
  // Streams that it hands on: half a block has none; with what it reads, where nobody reads that again.
  const bool ends_input = key.phase == Phase::Forward && keeps_nothing(key.layer) && key.layer != LayerIndex(0);
  const std::int64_t within = std::ssize(model_.layer(key.layer).segments) - (ends_input ? 0 : 1);
  const bool ends_segment = role.is_in_last_segment ? role.ends_layer : role.has_end;
  if (is_forgotten && role.ends_layer && within > 0)
    effect.free_at_end(MemoryCategory::Activations, stream() * within);
  else if (role.drops_input && ends_segment)
    effect.free_at_end(MemoryCategory::Activations, stream());
}

// The head casts what it reads, before all else; the embedding what it has put out, which lies beside it meanwhile.
void MemoryEffects::cast_forward(Writer& effect, const Role& role) const {
  if (!role.segment.leaves_tensor()) return effect.take(MemoryCategory::Activations, role.cast);
  effect.free_at_end(MemoryCategory::Activations, role.cast);
  if (role.cast > Bytes{}) effect.hold(MemoryCategory::Activations, stream());
}

// Sequence parallel: its output is there until it is gathered.
void MemoryEffects::norm_forward(Writer& effect, const Role& role, bool forgets) const {
  if (!forgets) effect.take(MemoryCategory::Activations, role.memory.statistics);
  effect.take(MemoryCategory::Activations, role.stream);
}

// A core in several parts: what is between the first and the last moves nothing.
void MemoryEffects::core_forward(Writer& effect, const Role& role, bool forgets, bool again) const {
  const SegmentMemory& memory = role.memory;
  const Bytes inside = memory.kept + memory.statistics - before_core(role);
  const Bytes rotary = rotary_by_operator(model_, plan_, role.segment), table = memory.kept - memory.normalized + hidden_or_stream(role);
  if (role.has_begin) effect.hold(MemoryCategory::Temporaries, std::max(memory.forward_temporary, rotary - table));
  if (forgets && role.is_whole())
    effect.hold(MemoryCategory::Activations, inside);
  else if (role.has_begin)
    effect.take(MemoryCategory::Activations, inside);
  else if (forgets)
    effect.free_at_end(MemoryCategory::Activations, inside);
  if (!role.has_end) return;
  if (forgets && cuts_sequence(role.segment)) effect.free_at_end(MemoryCategory::Activations, memory.normalized);
  if (!role.segment.leaves_tensor()) return;
  if (again && role.is_in_last_segment)
    effect.hold(MemoryCategory::Temporaries, hidden_or_stream(role));
  else
    effect.take(MemoryCategory::Activations, hidden_or_stream(role));
}

// A core that is recomputed as a module: it keeps what its norm put out, and what it makes besides is gone when it ends; again it is made for backward.
void MemoryEffects::module_forward(Writer& effect, const Role& role, bool again) const {
  const SegmentMemory& memory = role.memory;
  const bool reads_gathered = cuts_sequence(role.segment) && memory.regathered == Bytes{};  // which stands beside the part that is kept
  const Bytes made = memory.kept - memory.of_norm + (reads_gathered ? role.hidden : Bytes{});
  if (again) {
    if (role.has_begin) effect.take(MemoryCategory::Activations, memory.kept - memory.entering);
    if (role.has_begin && cuts_sequence(role.segment))
      effect.take(MemoryCategory::Activations, role.stream - role.hidden);  // the gather has taken all tokens, and freed its part
    if (role.has_end) effect.hold(MemoryCategory::Temporaries, hidden_or_stream(role));
  } else {
    if (role.has_begin) effect.take(MemoryCategory::Activations, memory.entering + memory.statistics - before_core(role));
    if (role.is_whole())
      effect.hold(MemoryCategory::Activations, made);
    else
      role.has_begin ? effect.take(MemoryCategory::Activations, made) : effect.free_at_end(MemoryCategory::Activations, made);
    if (role.has_end && role.segment.leaves_tensor()) effect.take(MemoryCategory::Activations, hidden_or_stream(role));
  }
}

// What a segment hands to the sum over tensor ranks: of all tokens, though each rank keeps a part of the sum.
Bytes MemoryEffects::hidden_or_stream(const Role& role) const { return cuts_sequence(role.segment) ? role.hidden : role.stream; }

// What norm and gather have taken before the core begins.
Bytes MemoryEffects::before_core(const Role& role) const {
  if (!cuts_sequence(role.segment) || !role.segment.starts_with_side()) return {};
  return role.memory.normalized + role.memory.statistics;
}

// The gradient of the stream is one tensor that changes hands: made by the head or received, freed by the embedding or sent.
void MemoryEffects::backward(Writer& effect, const TaskKey& key) const {
  const Role role = role_of(key);
  if (role.segment.leaves_tensor()) effect.take(MemoryCategory::Activations, role.cast);  // the embedding's gradient, as it comes
  if (role.is_tail && key.layer != LayerIndex(0) && changes_addends(model_.config))
    effect.take(MemoryCategory::Temporaries, stream());  // through the dropout, until it is gathered
  if (role.has_begin || role.has_end) core_backward(effect, role);
  if (role.has_begin != role.has_end) cached_backward(effect, role, key.slice);
  if (role.is_middle()) effect.hold(MemoryCategory::Temporaries, role.memory.middle_temporary);
  if (role.is_inside() && !role.splits) effect.free_at_end(MemoryCategory::Activations, role.memory.inside);  // else left for the weights
  if (role.is_norm) norm_backward(effect, role);
  if (model_.layer(key.layer).backward == BackwardReach::Ends) end_gradient(effect, role);
  if (plan_.model.parallel_blocks && is_block(key.layer)) meet_beside_attention(effect, role);
  if (keeps_inputs_) keep_inputs(effect, key, role);
}

// Of the stream: nothing in front of the layer reads it.
void MemoryEffects::end_gradient(Writer& effect, const Role& role) const {
  const bool norm_apart = cuts_segment(role.segment) && role.segment.starts_with_side(), ends = norm_apart ? role.is_norm : role.has_begin;
  const bool is_last = role.segment.has(OperatorKind::Attention) || role.segment.has(OperatorKind::CrossEntropy);
  if (ends && is_last) effect.free_at_end(MemoryCategory::Activations, stream());
}

// In a parallel block the gradient through the feed-forward waits until attention has read that of the block's output. Other programs' are told without.
void MemoryEffects::meet_beside_attention(Writer& effect, const Role& role) const {
  const bool norm_apart = cuts_segment(role.segment) && role.segment.starts_with_side(), ends = norm_apart ? role.is_norm : role.has_begin;
  if (!ends || habits_of(plan_.cluster).keeps_masks) return;
  role.segment.has(OperatorKind::Attention) ? effect.free_at_end(MemoryCategory::Temporaries, stream())
                                            : effect.take_at_end(MemoryCategory::Temporaries, stream());
}

// FullyShardedDataParallel waits for the gradients of a frozen unit's inputs by hooks that hold these inputs until the whole backward is done
// (torch/distributed/fsdp/_runtime_utils.py, _register_post_backward_reshard_only_hook); of a block that re-entrant checkpointing runs again they
// are leaves, each with its gradient.
void MemoryEffects::keep_inputs(Writer& effect, const TaskKey& key, const Role& role) const {
  const Bytes each = stream() * std::int64_t{2};
  if (key.layer == LayerIndex(0)) return effect.free_at_end(MemoryCategory::Activations, each * std::int64_t{plan_.model.layers});
  if (is_block(key.layer) && &role.segment == &model_.layer(key.layer).segments.front())
    effect.take_at_end(MemoryCategory::Activations, each);
}

void MemoryEffects::core_backward(Writer& effect, const Role& role) const {
  const SegmentMemory& memory = role.memory;
  const bool ends_model = !role.segment.leaves_tensor(), norm_apart = cuts_segment(role.segment) && role.segment.starts_with_side();
  if (!role.is_whole()) part_back(effect, role);
  if (role.has_end) effect.take(MemoryCategory::Activations, role.made_again);
  if (!role.has_begin) return;
  if (role.is_whole()) effect.hold(MemoryCategory::Temporaries, memory.backward_temporary);
  effect.hold(MemoryCategory::Activations, memory.regathered + memory.dropped);
  effect.free_at_end(MemoryCategory::Activations, memory.kept + role.unread);
  if (role.splits && !ends_inside(role.segment))
    effect.take_at_end(MemoryCategory::Activations, memory.weight_inputs + memory.output_gradients);
  if (cuts_sequence(role.segment) && !ends_model) effect.free_at_end(MemoryCategory::Temporaries, role.hidden);  // the gathered gradient
  if (norm_apart)
    effect.take_at_end(MemoryCategory::Temporaries, role.hidden);
  else if (!cuts_sequence(role.segment))
    effect.free_at_end(MemoryCategory::Activations, memory.statistics + role.stream);  // the input; of the embedding: the gradient
  if (ends_model && !norm_apart) effect.take_at_end(MemoryCategory::Activations, stream());
}

void MemoryEffects::norm_backward(Writer& effect, const Role& role) const {
  effect.hold(MemoryCategory::Temporaries, role.stream);         // the gradient through the norm, before it joins the other
  effect.free_at_end(MemoryCategory::Temporaries, role.stream);  // the gradient that it read
  effect.free_at_end(MemoryCategory::Activations, role.memory.statistics + role.stream);
  if (!role.segment.leaves_tensor()) effect.take_at_end(MemoryCategory::Activations, stream());
}

// The gradients of what the middle part puts out and reads live from one part to the other.
void MemoryEffects::part_back(Writer& effect, const Role& role) const {
  const SegmentMemory& memory = role.memory;
  if (role.has_end) {
    if (changes_addends(model_.config) && !cuts_sequence(role.segment)) effect.hold(MemoryCategory::Temporaries, stream());
    const bool is_one_task = plan_.mesh.context == 1 && plan_.slices == 1;  // tensor ranks alone meet inside
    if (is_one_task) effect.hold(MemoryCategory::Temporaries, memory.backward_temporary);
    effect.take(MemoryCategory::Temporaries, memory.output_gradient);
    effect.take_at_end(MemoryCategory::Temporaries, memory.input_gradients);
    effect.take_at_end(MemoryCategory::CommunicationBuffers, memory.exchanged_back);
  } else {
    effect.take(MemoryCategory::Temporaries, -memory.output_gradient);
    effect.take(MemoryCategory::CommunicationBuffers, -memory.exchanged_back);
    effect.hold(MemoryCategory::Temporaries, memory.weight_product);
    effect.free_at_end(MemoryCategory::Temporaries, memory.input_gradients);
    if (!role.splits || ends_inside(role.segment))
      effect.take_at_end(MemoryCategory::Activations, memory.inside);  // of what is kept, freed before
  }
}

// The last slice goes backward first, and adds to the gradients of the keys and values of all.
void MemoryEffects::cached_backward(Writer& effect, const Role& role, SliceIndex slice) const {
  if (!slice.exists()) return;  // of a bound
  const Bytes block = role.memory.cached_gradient;
  if (role.has_end && slice.value() + 1 == plan_.slices)
    effect.take_at_end(MemoryCategory::Temporaries, block * std::int64_t{plan_.slices});
  if (role.has_begin) effect.free_at_end(MemoryCategory::Temporaries, block);
}

bool MemoryEffects::is_for_nobody(const Task& sum) const {
  if (sum.key.phase != Phase::Recompute || sum.key.operation != Operation::ReduceScatter) return false;
  return std::cmp_equal(piece_of(sum.key).parts.segment + 1, model_.layer(sum.key.layer).segments.size());
}

const Piece& MemoryEffects::piece_of(const TaskKey& key) const {
  const auto& pieces = key.phase == Phase::Backward ? backward_ : key.phase == Phase::Recompute ? recompute_ : forward_;
  return *std::ranges::find_if(pieces[model_.kind(key.layer)], [&](const Piece& one) {
    return one.operation == key.operation && one.group == key.group && one.sequence == key.sequence;
  });
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
         task.key.sequence == 0 && plan_.recomputes(task.key.layer, MicrobatchIndex(0));
}

}  // namespace sim
