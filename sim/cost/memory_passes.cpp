// What the passes of a segment take and free: its forward, made again or not, and its backward, piece by piece.
#include <algorithm>

#include "sim/cost/effect_writer.h"
#include "sim/cost/memory_effects.h"
#include "sim/cost/unit_memory.h"
#include "sim/units/at.h"

namespace sim {

// A block that is recomputed keeps its input alone: what the forward makes besides is gone when it ends.
void MemoryEffects::forward(Writer& effect, const TaskKey& key) const {
  const bool again = key.phase == Phase::Recompute, is_forgotten = forgets(key);
  const Role role = role_of(key);
  cast_forward(effect, key, role);
  if (role.is_norm) norm_forward(effect, role, is_forgotten);
  if (role.has_begin || role.has_end) {
    if (role.has_begin) effect.hold(MemoryCategory::Activations, role.memory.regathered + role.memory.dropped);
    role.is_again ? module_forward(effect, role, again) : core_forward(effect, role, is_forgotten, again);
    if (!role.has_end) effect.take_at_end(MemoryCategory::CommunicationBuffers, role.memory.exchanged);
    if (!role.has_begin) effect.take(MemoryCategory::CommunicationBuffers, -role.memory.exchanged);
  }
  if (role.has_begin && !role.has_end) effect.take(MemoryCategory::Activations, -role.memory.inside);
  if (role.is_inside()) effect.take(MemoryCategory::Activations, role.memory.inside);
  if (!again) effect.take_at_end(MemoryCategory::Activations, role.further_out);
  leave_for_host(effect, key, role);
  // Streams that it hands on: half a block has none; with what it reads, where nobody reads that again.
  const bool is_read_again = keeps_nothing(key.layer) ? key.layer == LayerIndex(0) : !plan_.makes_input_again(key.layer, key.microbatch);
  const bool ends_input = key.phase == Phase::Forward && !is_read_again && !reads_message_that_stays(key);
  const std::int64_t within = std::ssize(model_.layer(key.layer).segments) - (ends_input ? 0 : 1);
  const bool ends_segment = role.is_in_last_segment ? role.ends_layer : role.has_end;
  if (is_forgotten && role.ends_layer && within > 0)
    effect.free_at_end(MemoryCategory::Activations, role.stream * (within + (casts_beside(key) ? 1 : 0)));
  else if (role.drops_input && ends_segment)
    effect.free_at_end(MemoryCategory::Activations, role.stream);
}

// The first of a stage that is no first one, where what comes has a place for the step (resident_memory).
bool MemoryEffects::reads_message_that_stays(const TaskKey& key) const {
  if (habits_of(plan_.cluster).held_messages == 0 || key.layer <= LayerIndex(0) || !key.chunk.exists()) return false;
  const bool begins = plan_.layers(key.stage, key.chunk).begin == key.layer;
  return begins && plan_.site(plan_.virtual_stage({key.stage, key.chunk}) - 1).stage != key.stage;
}

// A block that is recomputed keeps its input as it came: what its forward reads of it lies beside that.
bool MemoryEffects::casts_beside(const TaskKey& key) const {
  return key.phase == Phase::Forward && is_block(key.layer) && stream_in(key.layer) != stream_to(key.layer) && forgets(key);
}

// A unit in full precision casts what it reads, before all else, and any unit a wider stream; what it has put out, which lies beside it meanwhile, nobody reads of a block made again.
void MemoryEffects::cast_forward(Writer& effect, const TaskKey& key, const Role& role) const {
  const bool again = key.phase == Phase::Recompute, begins_again = again && plan_.recomputes(key.layer, key.microbatch);
  if (role.cast_in != Bytes{} && (!again || begins_again))
    effect.take(MemoryCategory::Activations, casts_beside(key) ? role.stream : role.cast_in);
  if (role.cast_out == Bytes{} || again) return;
  effect.free_at_end(MemoryCategory::Activations, role.cast_out);
  effect.hold(MemoryCategory::Activations, stream());
}

// The gradient as it comes, and as a block hands it on; the head makes it of what it is then.
void MemoryEffects::cast_backward(Writer& effect, const Role& role) const {
  effect.take(MemoryCategory::Activations, role.cast_out);
  if (role.cast_in == Bytes{} || !role.segment.leaves_tensor()) return;
  effect.free_at_end(MemoryCategory::Activations, role.cast_in);
  effect.hold(MemoryCategory::Activations, stream());
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
  const Bytes rotary = rotary_by_operator(model_, *role.plan, role.segment),
              table = memory.kept - memory.normalized + hidden_or_stream(role);
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
  if (again && role.is_for_nobody)
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

// The gradient of the stream is one tensor that changes hands: made by the head or received, freed by the embedding or sent. Those of further depths, which a
// head behind another layer hands back, take the place of what it read of them.
void MemoryEffects::backward(Writer& effect, const TaskKey& key) const {
  const Role role = role_of(key);
  cast_backward(effect, role);
  if (role.is_tail && key.layer != LayerIndex(0) && changes_addends(model_.config))
    effect.take(MemoryCategory::Temporaries, role.stream);  // through the dropout, until it is gathered
  if (role.has_begin || role.has_end) core_backward(effect, role);
  if (role.has_begin != role.has_end) cached_backward(effect, role, key.slice);
  if (role.is_middle()) effect.hold(MemoryCategory::Temporaries, role.memory.middle_temporary);
  if (role.is_inside() && !role.splits) effect.free_at_end(MemoryCategory::Activations, role.memory.inside);  // else left for the weights
  if (role.is_norm) norm_backward(effect, role);
  effect.free_at_end(MemoryCategory::Activations, role.further_back);
  const bool ends = model_.layer(key.layer).backward == BackwardReach::Ends;
  if (ends && !reads_message_that_stays(key)) end_gradient(effect, role);
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
  role.segment.has(OperatorKind::Attention) ? effect.free_at_end(MemoryCategory::Temporaries, role.stream)
                                            : effect.take_at_end(MemoryCategory::Temporaries, role.stream);
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
  if (ends_model && !norm_apart) effect.take_at_end(MemoryCategory::Activations, role.came);
}

void MemoryEffects::norm_backward(Writer& effect, const Role& role) const {
  effect.hold(MemoryCategory::Temporaries, role.stream);         // the gradient through the norm, before it joins the other
  effect.free_at_end(MemoryCategory::Temporaries, role.stream);  // the gradient that it read
  effect.free_at_end(MemoryCategory::Activations, role.memory.statistics + role.stream);
  if (!role.segment.leaves_tensor()) effect.take_at_end(MemoryCategory::Activations, role.came);
}

// The gradients of what the middle part puts out and reads live from one part to the other.
void MemoryEffects::part_back(Writer& effect, const Role& role) const {
  const SegmentMemory& memory = role.memory;
  if (role.has_end) {
    if (changes_addends(model_.config) && !cuts_sequence(role.segment)) effect.hold(MemoryCategory::Temporaries, role.stream);
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

}  // namespace sim
