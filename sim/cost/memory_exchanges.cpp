// Memory of what crosses links: gradients that begin and are reduced, units that are gathered and given up, codes, messages, copies to undo.
#include "sim/cost/effect_writer.h"
#include "sim/cost/resident_memory.h"
#include "sim/sharding/encoded.h"
#include "sim/units/at.h"

namespace sim {

void MemoryEffects::begin_gradients(Writer& effect, const TaskKey& key, const TaskGraph& graph) const {
  if (follows_units_ || !gradients_.may_begin(key)) return;
  if (gradients_.ends_with_step()) return begin_whole_gradients(effect, key, graph);
  for (const Bucket& bucket : graph.buckets()[key.stage.position()])
    if ((bucket.shards > 1 || plan_.offload_parameters) && !bucket.frozen && gradients_.begins(key, bucket))
      effect.take(MemoryCategory::Gradients, gradient_buffer(bucket));
}

// Each tensor's is a tensor of its own; or all of a bucket come together, in one buffer.
void MemoryEffects::begin_whole_gradients(Writer& effect, const TaskKey& key, const TaskGraph& graph) const {
  if (!gradients_.is_first_piece(key)) return;
  for (const Bucket& bucket : graph.buckets()[key.stage.position()]) {
    if (!passes(bucket) || bucket.frozen) continue;
    if (!habits_of(plan_.cluster).keeps_buckets) {
      if (gradients_.begins(key, bucket)) effect.take(MemoryCategory::Gradients, gradient_buffer(bucket));
      continue;
    }
    for (const BucketSlot& slot : bucket.slots)
      if (gradients_.first_backward(slot) == key.layer)
        effect.take(MemoryCategory::Gradients, passing_gradient(plan_, slot.layer) * slot.elements);
  }
}

void MemoryEffects::end_gradients(Writer& effect, const Task& task, const TaskGraph& graph) const {
  const Bucket& bucket = graph.buckets()[task.key.stage.position()][task.bucket.position()];
  if (plan_.optimizer_in_backward && !gradients_.ends_with_step())
    return effect.free_at_end(MemoryCategory::Gradients, gradient_shard(bucket));
  if (!gradients_.ends_with_step() || !passes(bucket)) return;
  if (!habits_of(plan_.cluster).keeps_buckets) return effect.free_at_end(MemoryCategory::Gradients, gradient_buffer(bucket));
  for (const BucketSlot& slot : bucket.slots)
    effect.free_at_end(MemoryCategory::Gradients, passing_gradient(plan_, slot.layer) * slot.elements);
}

// After forward neighbours may keep a part each, until they gather it again, or until the step.
void MemoryEffects::reshard(Writer& effect, const Task& task, const Bucket& bucket) const {
  effect.take(MemoryCategory::GatheredUnits, task.payload);
  effect.free_at_end(MemoryCategory::GatheredUnits, gathered_bytes(plan_, bucket));
}

// Of a bucket: its step, by whoever takes it.
bool MemoryEffects::ends_second_copy(const TaskKey& key) const {
  const Operation steps = plan_.offload_optimizer ? Operation::HostUpdate : Operation::Update;
  return plan_.kept_until == KeptUntil::Step && key.operation == steps;
}

// A direct exchange receives the other ranks' parts beside its own. Other devices reduce in the place of the buffer.
Bytes MemoryEffects::exchange_buffer(const Task& task, const TaskGraph& graph) const {
  if (plan_.cluster.hardware.kind != DeviceKind::Cpu) return {};
  const std::int64_t ranks = placement_.group(graph.devices()[task.device.position()].representative, task.key.group).ranks;
  if (task.key.operation == Operation::ReduceScatter && task.bucket.exists()) {  // of unequal parts the fullest owner's
    const Bucket& bucket = graph.buckets()[task.key.stage.position()][task.bucket.position()];
    if (!bucket.first_of.empty()) return plan_.bytes(Numbers::Wire, bucket.ready_after) * bucket.shard_elements * (ranks - 1);
  }
  return Bytes((task.payload.value() + ranks - 1) / ranks) * (ranks - 1);
}

void MemoryEffects::reduce(Writer& effect, const Task& task, const TaskGraph& graph) const {
  effect.hold(MemoryCategory::CommunicationBuffers, exchange_buffer(task, graph));
  const LayerIndex of = task.key.layer;
  if (task.key.phase == Phase::Gradients && plan_.bytes(Numbers::Wire, of) != plan_.bytes(Numbers::Gradients, of))
    effect.hold(MemoryCategory::CommunicationBuffers, task.payload);  // cast beside what they are summed in
  if (task.key.phase != Phase::Gradients || !is_of_copies(task.key.group)) return;
  free_reduced(effect, graph.buckets()[task.key.stage.position()][task.bucket.position()]);
}

void MemoryEffects::free_reduced(Writer& effect, const Bucket& bucket) const {
  if (!gradients_.is_limited() || gradients_.ends_with_step()) return;
  const Bytes stays = plan_.offload_parameters ? gradient_shard(bucket) : Bytes{};  // until it is on the host
  if (plan_.optimizer_in_backward) effect.take(MemoryCategory::Gradients, gradient_shard(bucket));
  effect.free_at_end(MemoryCategory::Gradients, gradient_buffer(bucket) - stays);
}

// What a step changes, from before it until all stages have found it right.
void MemoryEffects::copy_to_undo(Writer& effect, const Task& task, const TaskGraph& graph) const {
  const std::vector<Bucket>& buckets = graph.buckets()[task.key.stage.position()];
  if (task.key.operation == Operation::Update)
    return effect.take(MemoryCategory::OptimizerState, undo_bytes(plan_, buckets[task.bucket.position()]));
  const bool is_last_stage = task.key.stage.value() + 1 == plan_.mesh.pipeline;  // receives nothing
  if ((task.key.operation == Operation::Receive) == is_last_stage) return;
  for (const Bucket& bucket : buckets)
    if (!bucket.frozen) effect.free_at_end(MemoryCategory::OptimizerState, undo_bytes(plan_, bucket));
}

// Codes lie beside what they are of: what is sent until it has gone, what has come until it is decoded. A shard's codes lie in their place among all;
// P, and what travels with it, stays from its making to the end, while Q is kept (resident_memory).
void MemoryEffects::code(Writer& effect, const Task& task, const TaskGraph& graph) const {
  constexpr MemoryCategory kBuffers = MemoryCategory::CommunicationBuffers;
  const Bucket& bucket = graph.buckets()[task.key.stage.position()][task.bucket.position()];
  const bool of_gradients = task.key.phase == Phase::Gradients, is_low_rank = of_gradients && gradient_codec(bucket, plan_).is_low_rank();
  const std::vector<WireStep> steps = of_gradients ? reduction_steps(bucket, plan_) : gather_steps(bucket, plan_);
  const Bytes first = steps.front().payload, last_exchange = sim::at(steps, steps.size() - 2).payload;
  switch (task.key.operation) {
    case Operation::Encode: return effect.take(kBuffers, of_gradients ? first : gather_payload(bucket, plan_));
    case Operation::Reencode:
      if (is_low_rank) return;
      effect.take(kBuffers, task.payload);
      effect.hold(kBuffers, plan_.bytes(Numbers::Gradients) * moved_shard(bucket, plan_));  // the sum, between codes and codes
      return effect.free_at_end(kBuffers, first);
    default: break;
  }
  effect.free_at_end(kBuffers, is_low_rank ? first : last_exchange);
  if (!of_gradients) return effect.take(MemoryCategory::GatheredUnits, gathered_bytes(plan_, bucket));
  free_reduced(effect, bucket);
}

// The source's rows are sent as a copy, which lasts until it has arrived; where their gradients meet, those that follow the first are added to it.
void MemoryEffects::move_source(Writer& effect, const Task& task) const {
  if (habits_of(plan_.cluster).held_messages > 0) return;
  if (task.key.operation == Operation::Send) return effect.take(MemoryCategory::CommunicationBuffers, task.payload);
  const bool is_first = task.key.phase == Phase::Forward || task.key.sequence == source_.readers.back().value();
  is_first ? effect.take(MemoryCategory::Activations, task.payload) : effect.hold(MemoryCategory::CommunicationBuffers, task.payload);
  effect.free_on_sender(MemoryCategory::CommunicationBuffers, task.payload);
}

// A stage's stream has a place for the source's rows, whether they come with its neighbour's message, by themselves, or not at all.
Bytes MemoryEffects::comes_beside(const TaskKey& key) const {
  const bool has_come = key.phase == Phase::Forward ? source_.reach(key.stage) : key.stage == source_.from && !source_.readers.empty();
  return has_come && habits_of(plan_.cluster).held_messages == 0 ? source_.rows : Bytes{};
}

// A send is posted; its buffer must last until it has arrived. Messages that are held for the step (resident_memory) come into places that are there;
// what a stage puts out stays until its backward, which frees it in place of the gradient that came. Held, too (3), it has its place from the start.
void MemoryEffects::receive(Writer& effect, const Task& task) const {
  const std::int32_t held = habits_of(plan_.cluster).held_messages;
  const bool forward = task.key.phase == Phase::Forward;
  if (is_of_source(task.key)) return move_source(effect, task);
  const Bytes whole = source_.from.exists() ? stream() : task.payload;
  if (held == 0 || (held > 2 && !forward)) effect.take(MemoryCategory::Activations, whole - comes_beside(task.key));
  const bool is_answered =
      !forward || !task.key.layer.exists() || model_.goes_back(LayerIndex(task.key.layer.value() - 1));  // by its gradient
  if (held == 0 || (held > 2 && forward) || !is_answered) effect.free_on_sender(MemoryCategory::Activations, whole);
}

// Between a rank's stretch of the tokens and all of them.
void MemoryEffects::reshape_sequence(Writer& effect, const Task& task, const TaskGraph& graph) const {
  const bool backward = task.key.phase == Phase::Backward;
  const Bytes stretch = stream_in(task.key.layer), whole = hidden_in(task.key.layer);
  if (is_for_nobody(task)) return effect.hold(MemoryCategory::Temporaries, stretch);
  const MemoryCategory category = backward ? MemoryCategory::Temporaries : MemoryCategory::Activations;
  if (copies_exchanged(task)) effect.hold(MemoryCategory::CommunicationBuffers, whole);
  if (task.key.operation == Operation::ReduceScatter) {
    effect.hold(MemoryCategory::CommunicationBuffers, exchange_buffer(task, graph));
    effect.take(category, stretch);
    return effect.free_at_end(category, whole);
  }
  effect.take(category, whole);
  if (!backward) return effect.free_at_end(MemoryCategory::Activations, stretch);
  if (task.key.layer == LayerIndex(0))
    effect.free_at_end(MemoryCategory::Activations, stretch);  // the gradient of the stream itself
  else if (changes_addends(model_.config))
    effect.free_at_end(MemoryCategory::Temporaries, stretch);
}

void MemoryEffects::communicate(Writer& effect, const Task& task, const TaskGraph& graph) const {
  const bool of_tokens = task.key.phase == Phase::Forward || task.key.phase == Phase::Recompute || task.key.phase == Phase::Backward;
  if (task.key.group == MeshAxis::Tensor && of_tokens && task.key.operation != Operation::AllReduce) {
    if (!is_of_heads(task.key)) return reshape_sequence(effect, task, graph);
    return effect.hold(MemoryCategory::Temporaries, task.key.phase == Phase::Backward ? Bytes{} : task.payload);
  }
  const bool of_rows = task.key.group == MeshAxis::Expert || task.key.group == MeshAxis::ExpertTensor;
  if (of_rows && plan_.gathers_tokens()) {
    const bool has_buffer = task.key.operation == Operation::AllGather && task.key.phase != Phase::Backward;  // add_step_data
    return has_buffer ? void() : effect.hold(MemoryCategory::CommunicationBuffers, task.payload);
  }
  if (task.key.group == MeshAxis::Tensor && task.key.phase == Phase::Gradients)
    effect.hold(MemoryCategory::CommunicationBuffers, task.payload);  // replicated parameters' gradients, side by side
  const bool has_place = task.key.operation != Operation::AllToAll || task.key.phase == Phase::Backward;
  const bool is_of_samples =
      task.key.group == MeshAxis::Context || task.key.group == MeshAxis::ContextInner || task.key.group == MeshAxis::ContextOuter;
  if (is_of_samples && has_place) return;  // into what AttentionInput or Output took, or what has been given up
  if (task.key.group == MeshAxis::Pipeline && task.key.phase == Phase::Step) return;  // a few bytes that are there
  if (task.key.group == MeshAxis::Data && of_tokens && !task.bucket.exists())
    return effect.hold(MemoryCategory::CommunicationBuffers, task.payload);
  switch (task.key.operation) {
    case Operation::Send: return is_of_source(task.key) ? move_source(effect, task) : void();
    case Operation::Receive: return receive(effect, task);
    case Operation::AllReduce:
    case Operation::ReduceScatter: return reduce(effect, task, graph);
    case Operation::AllGather:
      if (plan_.offload_parameters && is_of_copies(task.key.group)) return;  // its place was taken for the shard
      if (is_of_copies(task.key.group) && task.key.phase != Phase::Step && !is_encoded(task))
        effect.take(MemoryCategory::GatheredUnits, task.payload);
      if (task.key.group == MeshAxis::Reshard && plan_.kept_until == KeptUntil::Backward)
        effect.free_at_end(MemoryCategory::GatheredUnits, task.payload / std::int64_t{plan_.mesh.reshard});
      return;
    case Operation::Broadcast:
      if (plan_.weight_sync != WeightSync::Broadcast) effect.hold(MemoryCategory::CommunicationBuffers, task.payload);  // cast
      return;
    case Operation::AllToAll:
      if (task.key.phase != Phase::Gradients) return effect.hold(MemoryCategory::CommunicationBuffers, task.payload);
      effect.take(MemoryCategory::CommunicationBuffers, task.payload);  // what comes, until it is decoded
      return effect.free_at_end(MemoryCategory::CommunicationBuffers, task.payload);
    default: return;
  }
}

}  // namespace sim
