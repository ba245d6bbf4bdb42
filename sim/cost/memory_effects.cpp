#include "sim/cost/memory_effects.h"

#include <algorithm>
#include <optional>

namespace sim {
namespace {

constexpr MemoryCategory kActivations = MemoryCategory::Activations;
constexpr MemoryCategory kTemporaries = MemoryCategory::Temporaries;

std::optional<Segment> core_of(Operation operation) {
  switch (operation) {
    case Operation::Embedding: return Segment::Embedding;
    case Operation::Attention:
    case Operation::AttentionInput:
    case Operation::AttentionOutput: return Segment::Attention;
    case Operation::ExpertInput:
    case Operation::ExpertOutput: return Segment::Experts;
    case Operation::Mlp: return Segment::Mlp;
    case Operation::Head: return Segment::Head;
    default: return std::nullopt;
  }
}

std::optional<Segment> norm_of(Operation operation) {
  switch (operation) {
    case Operation::AttentionNorm: return Segment::Attention;
    case Operation::MlpNorm: return Segment::Mlp;
    case Operation::HeadNorm: return Segment::Head;
    default: return std::nullopt;
  }
}

constexpr bool is_input(Operation operation) { return operation == Operation::AttentionInput || operation == Operation::ExpertInput; }
constexpr bool is_output(Operation operation) { return operation == Operation::AttentionOutput || operation == Operation::ExpertOutput; }
// Attention over context ranks, and experts, are a core in two parts; what is between them moves nothing.
constexpr bool begins_core(const TaskKey& key) {
  return key.phase == Phase::Backward ? !is_input(key.operation) : !is_output(key.operation);
}
constexpr bool ends_core(const TaskKey& key) { return key.phase == Phase::Backward ? !is_output(key.operation) : !is_input(key.operation); }
constexpr bool is_feed_forward(Segment segment) { return segment == Segment::Mlp || segment == Segment::Experts; }

constexpr bool is_of_copies(MeshAxis axis) { return axis == MeshAxis::Data || axis == MeshAxis::ExpertData || axis == MeshAxis::Reshard; }

// Only sequence parallelism has tasks of them in a backward.
bool is_residual(Operation operation) { return operation == Operation::AttentionResidual || operation == Operation::MlpResidual; }

}  // namespace

class MemoryEffects::Writer {
 public:
  void take(MemoryCategory category, Bytes amount) { add(effect_.at_start, category, amount); }
  void hold(MemoryCategory category, Bytes amount) { add(effect_.temporary, category, amount); }
  void take_at_end(MemoryCategory category, Bytes amount) { add(effect_.at_end, category, amount); }
  void free_at_end(MemoryCategory category, Bytes amount) { add(effect_.at_end, category, -amount); }
  void free_on_sender(MemoryCategory category, Bytes amount) { add(effect_.on_sender, category, -amount); }
  MemoryEffect finish() && { return std::move(effect_); }

 private:
  static void add(std::vector<MemoryChange>& changes, MemoryCategory category, Bytes amount) {
    if (amount.value() != 0) changes.push_back({category, amount});
  }
  MemoryEffect effect_;
};

MemoryEffects::MemoryEffects(const ModelGraph& model, const ParallelPlan& plan)
    : model_(model), plan_(plan), placement_(plan), gradients_(model, plan), splits_(plan.splits_backward()) {
  for (const Segment segment : {Segment::Embedding, Segment::Attention, Segment::Mlp, Segment::Head, Segment::Experts})
    segments_[static_cast<std::size_t>(segment)] = segment_memory(model, plan, segment);
}

MemoryEffect MemoryEffects::of(const Task& task, const TaskGraph& graph) const {
  Writer effect;
  if (is_host_copy(task.key.operation))
    move_input(effect, task);
  else if (is_communication(task.key.operation))
    communicate(effect, task, graph);
  else if (task.key.operation == Operation::Reshard)
    reshard(effect, task.key, graph.buckets()[task.key.stage.position()][task.bucket.position()]);
  else if (task.key.phase == Phase::Backward) {
    backward(effect, task.key);
    begin_gradients(effect, task.key, graph);
  } else if (task.key.phase == Phase::Forward || task.key.phase == Phase::Recompute)
    forward(effect, task.key);
  else if (task.key.phase == Phase::Weight) {
    const SegmentMemory& memory = memory_of(task.key.operation == Operation::Experts ? Segment::Experts : *core_of(task.key.operation));
    effect.hold(kActivations, memory.regathered);
    effect.free_at_end(kActivations, memory.weight_inputs + memory.output_gradients);
  }
  return std::move(effect).finish();
}

// The input of a block, to the host and back; what the optimizer copies stays where it is.
void MemoryEffects::move_input(Writer& effect, const Task& task) const {
  if (task.key.phase == Phase::Forward) effect.free_at_end(kActivations, task.payload);
  if (task.key.phase == Phase::Backward) effect.take(kActivations, task.payload);
}

// A block that is recomputed keeps its input alone: what the forward makes besides is gone when it ends.
void MemoryEffects::forward(Writer& effect, const TaskKey& key) const {
  const bool again = key.phase == Phase::Recompute;
  const bool in_block = key.layer != LayerIndex(0) && key.layer != model_.head();
  const bool forgets = recomputes_blocks() && !again && in_block;
  if (const auto segment = norm_of(key.operation)) {  // sequence parallel: its output is there until it is gathered
    const SegmentMemory& memory = memory_of(*segment);
    if (!forgets) effect.take(kActivations, memory.statistics);
    effect.take(kActivations, memory.stream);
  }
  if (const auto segment = core_of(key.operation)) {
    const SegmentMemory& memory = memory_of(*segment);
    const Bytes inside = memory.kept + memory.statistics - before_core(*segment), sum = sum_of(*segment);
    const bool begins = begins_core(key), ends = ends_core(key);
    const bool output_is_read = ends && *segment != Segment::Head && !(again && is_feed_forward(*segment));
    if (begins) effect.hold(kActivations, memory.regathered);
    if (forgets && begins && ends)
      effect.hold(kActivations, inside);
    else if (begins)
      effect.take(kActivations, inside);
    else if (forgets)
      effect.free_at_end(kActivations, inside);
    if (!ends) effect.take_at_end(MemoryCategory::CommunicationBuffers, memory.exchanged);
    if (!begins) effect.take(MemoryCategory::CommunicationBuffers, -memory.exchanged);
    if (ends && forgets && cuts_sequence()) effect.free_at_end(kActivations, memory.normalized);
    if (output_is_read)
      effect.take(kActivations, sum);
    else if (ends && is_feed_forward(*segment))
      effect.hold(kTemporaries, sum);
  }
  const bool reads_last = cuts_segments() ? key.operation == Operation::MlpResidual
                                          : key.operation == Operation::Mlp || key.operation == Operation::ExpertOutput;
  if (forgets && reads_last) effect.free_at_end(kActivations, memory_of(Segment::Mlp).stream);
}

// What norm and gather have taken before the core begins.
Bytes MemoryEffects::before_core(Segment segment) const {
  if (!cuts_sequence() || segment == Segment::Embedding) return {};
  return memory_of(segment).normalized + memory_of(segment).statistics;
}

// What a segment hands to the sum over tensor ranks: of all tokens, though each rank keeps a stretch of the sum.
Bytes MemoryEffects::sum_of(Segment segment) const { return cuts_sequence() ? hidden() : memory_of(segment).stream; }

// The gradient of the stream is one tensor that changes hands: made by the head or received, freed by the embedding or sent.
void MemoryEffects::backward(Writer& effect, const TaskKey& key) const {
  const bool drops = model_.config.residual_dropout > 0;
  if (is_residual(key.operation) && drops)
    effect.take(kTemporaries, memory_of(Segment::Mlp).stream);  // through the dropout, until it is gathered
  if (const auto segment = core_of(key.operation)) {
    const SegmentMemory& memory = memory_of(*segment);
    const bool norm_apart = cuts_segments() && *segment != Segment::Embedding;
    if (!begins_core(key) || !ends_core(key)) part_back(effect, key, memory);
    if (!ends_core(key)) return;
    if (begins_core(key)) effect.hold(kTemporaries, memory.backward_temporary);
    effect.hold(kActivations, memory.regathered);
    effect.free_at_end(kActivations, memory.kept);
    if (splits_) effect.take_at_end(kActivations, memory.weight_inputs + memory.output_gradients);
    if (cuts_sequence() && *segment != Segment::Head) effect.free_at_end(kTemporaries, hidden());  // the gathered gradient
    if (norm_apart)
      effect.take_at_end(kTemporaries, hidden());
    else if (!cuts_sequence())
      effect.free_at_end(kActivations, memory.statistics + memory.stream);  // the input; of the embedding: the gradient
    if (*segment == Segment::Head && !norm_apart) effect.take_at_end(kActivations, memory.stream);
  }
  if (const auto segment = norm_of(key.operation)) {
    const SegmentMemory& memory = memory_of(*segment);
    effect.hold(kTemporaries, memory.stream);         // the gradient through the norm, before it joins the other
    effect.free_at_end(kTemporaries, memory.stream);  // the gradient that it read
    effect.free_at_end(kActivations, memory.statistics + memory.stream);
    if (*segment == Segment::Head) effect.take_at_end(kActivations, memory.stream);
  }
}

// The gradients of what the middle part puts out and reads live from one part to the other.
void MemoryEffects::part_back(Writer& effect, const TaskKey& key, const SegmentMemory& memory) const {
  if (begins_core(key)) {
    if (model_.config.residual_dropout > 0 && !cuts_sequence()) effect.hold(kTemporaries, memory.stream);
    effect.take(kTemporaries, memory.output_gradient);
    effect.take_at_end(kTemporaries, memory.input_gradients);
    effect.take_at_end(MemoryCategory::CommunicationBuffers, memory.exchanged_back);
  } else {
    effect.take(kTemporaries, -memory.output_gradient);
    effect.take(MemoryCategory::CommunicationBuffers, -memory.exchanged_back);
    effect.hold(kTemporaries, memory.weight_product);
    effect.free_at_end(kTemporaries, memory.input_gradients);
  }
}

// Between a rank's stretch of the tokens and all of them.
void MemoryEffects::reshape_sequence(Writer& effect, const Task& task, const TaskGraph& graph) const {
  const bool backward = task.key.phase == Phase::Backward;
  const Bytes stretch = memory_of(Segment::Mlp).stream, whole = hidden();
  const MemoryCategory category = backward ? kTemporaries : kActivations;
  if (task.key.operation == Operation::ReduceScatter) {
    effect.hold(MemoryCategory::CommunicationBuffers, exchange_buffer(task, graph));
    effect.take(category, stretch);
    return effect.free_at_end(category, whole);
  }
  effect.take(category, whole);
  if (!backward) return effect.free_at_end(kActivations, stretch);
  if (task.key.layer == LayerIndex(0))
    effect.free_at_end(kActivations, stretch);  // the gradient of the stream itself
  else if (model_.config.residual_dropout > 0)
    effect.free_at_end(kTemporaries, stretch);
}

void MemoryEffects::begin_gradients(Writer& effect, const TaskKey& key, const TaskGraph& graph) const {
  if (!gradients_.may_begin(key)) return;
  for (const Bucket& bucket : graph.buckets()[key.stage.position()])
    if (bucket.shards > 1 && gradients_.begins(key, bucket))
      effect.take(MemoryCategory::Gradients, plan_.bytes(Numbers::Gradients) * bucket.elements);
}

// After forward neighbours may keep a part each, until they gather it again.
void MemoryEffects::reshard(Writer& effect, const TaskKey& key, const Bucket& bucket) const {
  if (key.phase == Phase::Forward)
    effect.take(MemoryCategory::GatheredUnits, plan_.bytes(Numbers::Weights) * elements_after_forward(plan_, bucket));
  effect.free_at_end(MemoryCategory::GatheredUnits, plan_.bytes(Numbers::Weights) * bucket.elements);
}

// A direct exchange receives the other ranks' parts beside its own. Other devices reduce in the place of the buffer.
Bytes MemoryEffects::exchange_buffer(const Task& task, const TaskGraph& graph) const {
  if (plan_.cluster.hardware.kind != DeviceKind::Cpu) return {};
  const std::int64_t ranks = placement_.group(graph.devices()[task.device.position()].representative, task.key.group).ranks;
  return Bytes((task.payload.value() + ranks - 1) / ranks) * (ranks - 1);
}

void MemoryEffects::reduce(Writer& effect, const Task& task, const TaskGraph& graph) const {
  effect.hold(MemoryCategory::CommunicationBuffers, exchange_buffer(task, graph));
  if (task.key.phase == Phase::Gradients && plan_.bytes(Numbers::Wire) != plan_.bytes(Numbers::Gradients))
    effect.hold(MemoryCategory::CommunicationBuffers, task.payload);  // cast beside what they are summed in
  if (task.key.phase != Phase::Gradients || !is_of_copies(task.key.group) || !gradients_.is_limited()) return;
  effect.free_at_end(MemoryCategory::Gradients,
                     plan_.bytes(Numbers::Gradients) * graph.buckets()[task.key.stage.position()][task.bucket.position()].elements);
}

// A send is posted; its buffer must last until it has arrived. Where messages are held for the step (resident_memory), activations come into
// a place that is there, and stay in it.
void MemoryEffects::receive(Writer& effect, const Task& task) const {
  const bool is_held = habits_of(plan_.cluster).held_messages > 0, forward = task.key.phase == Phase::Forward;
  if (!is_held || !forward) effect.take(kActivations, task.payload);
  if (!is_held || forward) effect.free_on_sender(kActivations, task.payload);
}

void MemoryEffects::communicate(Writer& effect, const Task& task, const TaskGraph& graph) const {
  const bool of_tokens = task.key.phase == Phase::Forward || task.key.phase == Phase::Recompute || task.key.phase == Phase::Backward;
  if (task.key.group == MeshAxis::Tensor && of_tokens && task.key.operation != Operation::AllReduce)
    return reshape_sequence(effect, task, graph);
  if (task.key.group == MeshAxis::Tensor && task.key.phase == Phase::Gradients)
    effect.hold(MemoryCategory::CommunicationBuffers, task.payload);  // replicated parameters' gradients, side by side
  const bool has_place = task.key.operation != Operation::AllToAll || task.key.phase == Phase::Backward;
  if (task.key.group == MeshAxis::Context && has_place) return;  // into what AttentionInput or Output took, or what has been given up
  switch (task.key.operation) {
    case Operation::Receive: return receive(effect, task);
    case Operation::AllReduce:
    case Operation::ReduceScatter: return reduce(effect, task, graph);
    case Operation::AllGather:
      if (is_of_copies(task.key.group) && task.key.phase != Phase::Step) effect.take(MemoryCategory::GatheredUnits, task.payload);
      if (task.key.group == MeshAxis::Reshard)
        effect.free_at_end(MemoryCategory::GatheredUnits, task.payload / std::int64_t{plan_.mesh.reshard});
      return;
    case Operation::AllToAll: return effect.hold(MemoryCategory::CommunicationBuffers, task.payload);
    default: return;
  }
}

Bytes MemoryEffects::block_keeps(LayerIndex block) const {
  const SegmentMemory& attention = memory_of(Segment::Attention);
  const SegmentMemory& mlp = memory_of(model_.feed_forward(block));
  if (recomputes_blocks()) return plan_.offload_activations ? Bytes{} : mlp.stream;
  return attention.kept + attention.statistics + mlp.kept + mlp.statistics + mlp.stream * 2;
}

Bytes MemoryEffects::chunk_keeps(StageIndex stage, ChunkIndex chunk) const {
  const LayerRange range = plan_.layers(stage, chunk);
  const SegmentMemory& head = memory_of(Segment::Head);
  Bytes all{};
  for (LayerIndex layer = range.begin; layer < range.end; ++layer)
    all += layer == LayerIndex(0)   ? memory_of(Segment::Embedding).kept
           : layer == model_.head() ? head.kept + head.statistics + head.stream
                                    : block_keeps(layer);
  const bool has_place = habits_of(plan_.cluster).held_messages > 0 && range.begin > LayerIndex(0);  // resident: what it receives
  return has_place ? std::max(Bytes{}, all - memory_of(Segment::Mlp).stream) : all;
}

}  // namespace sim
