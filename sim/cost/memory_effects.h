// Which task moves which memory: activations from forward to backward, gathered units, full gradients, exchange buffers. How much an
// activation takes is activation_memory's.
#pragma once

#include <optional>
#include <vector>

#include "sim/cost/activation_memory.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/cost/memory_steps.h"
#include "sim/cost/operator_memory.h"
#include "sim/cost/placement.h"
#include "sim/cost/segment_sizes.h"
#include "sim/cost/whole_backwards.h"
#include "sim/task_graph/host_inputs.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/task_graph/source_edges.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"
#include "sim/units/at.h"

namespace sim {

class MemoryEffects {
 public:
  MemoryEffects(const ModelGraph& model, const ParallelPlan& plan) : MemoryEffects(model, plan, WholeBackwards(plan)) {}
  MemoryEffects(const ModelGraph& model, const ParallelPlan& plan, WholeBackwards whole);  // model and plan must outlive it

  MemoryEffect of(const Task& task, const TaskGraph& graph) const;
  bool forgets(const TaskKey& key) const {  // a block's forward that keeps its input alone, or not even that
    return key.phase == Phase::Forward && (plan_.recomputes(key.layer, key.microbatch) || keeps_nothing(key.layer));
  }
  bool reads_message_that_stays(const TaskKey& key) const;
  bool keeps_nothing(LayerIndex layer) const { return layer.exists() && !model_.goes_back(layer); }  // for a backward that does not come
  bool splits(const TaskKey& key) const {  // its weights' gradients are a task behind it
    return (splits_ && !whole_.has(key)) || plan_.delays_weights(key.layer, key.microbatch);
  }
  const Piece& piece_of(const TaskKey& key) const;  // an exchange of a layer
  bool is_of_heads(const TaskKey& key) const;
  bool is_read_again(const TaskKey& key) const;
  std::uint8_t place_in_group(
      const TaskKey& key) const {  // of blocks that are made again together: whether others of it stand in front, behind
    if (plan_.recompute_scope.together == 1 || !key.layer.exists() || !key.microbatch.exists()) return 0;
    return static_cast<std::uint8_t>((plan_.makes_input_again(key.layer, key.microbatch) ? 1 : 0) | (is_read_again(key) ? 2 : 0));
  }
  bool sends_inputs(const TaskKey& key) const;  // of modules, to the host: a forward
  bool is_for_nobody(const Task& sum) const;    // of a block's end, when a program runs it again
  bool comes_early(const Task& gather) const;
  bool follows_units() const { return follows_units_; }  // then units are unit_memory's
  const ByLayerKind<GradientsCome>& come() const { return come_; }
  // Of a task whose steps are known; else null. What it takes and frees is the same as in `of`.
  std::optional<OperatorSteps> steps_of(const TaskKey& key) const;
  Bytes stream() const;  // what goes from segment to segment, of one rank and microbatch
  Bytes stream_to(LayerIndex layer) const {
    return plan_.reads_full(layer) || layer == LayerIndex(0) ? stream_in(layer) : stream();
  }  // as it is handed to it
  const GradientLifetime& gradients() const { return gradients_; }

 private:
  class Writer;
  // Which parts of which segment a task runs.
  struct Role {
    const SegmentGraph& segment;
    const SegmentMemory& memory;
    bool is_norm = false, is_tail = false;    // in front of the core alone, behind it alone
    bool has_begin = false, has_end = false;  // of the core, in the order of a forward
    bool ends_layer = false;                  // in the order of a forward
    bool is_in_last_segment = false;
    bool is_for_nobody = false;   // what it puts out, when it is made again
    bool splits = false;          // its weights wait for a task of their own
    bool is_again = false;        // its core is recomputed as a module, from what its norm put out
    bool drops_input = false;     // by operators: the stream inside a block is made again, too
    Bytes made_again{};           // by operators, when its backward begins
    Bytes unread{};               // of the whole block, when that of its first segment ends
    Bytes stream{}, hidden{};     // in its unit's precision: of this rank, of all tokens of a microbatch
    Bytes came{};                 // the stream as its layer reads it
    Bytes cast_in{}, cast_out{};  // of a unit that reads here what has another type, or hands it on: its stream less that
    // Streams of further depths, which predictions that stand apart hand to the head: put out, and gradients of them that end with a layer's backward.
    Bytes further_out{}, further_back{};
    const ParallelPlan* plan;  // as its unit sees it
    bool is_whole() const { return has_begin && has_end; }
    bool is_middle() const { return !is_norm && !is_tail && !has_begin && !has_end; }
    bool is_inside() const { return memory.inside.value() > 0 && is_middle(); }
  };
  Role role_of(const TaskKey& key) const;
  const SegmentMemory& memory_of(LayerIndex layer, std::int32_t segment) const { return sim::at(segments_[model_.kind(layer)], segment); }
  Bytes made_again(LayerIndex layer, std::int32_t segment) const;
  Bytes unread(LayerIndex layer) const;
  void forward_of_maps(Writer& effect, const TaskKey& key) const;
  void backward_of_maps(Writer& effect, const TaskKey& key) const;
  Bytes kept_of_layer(LayerIndex layer) const;
  bool has_norm(LayerIndex layer) const;  // of a batch
  void put_off(Writer& effect, const TaskKey& key) const;
  void leave_for_host(Writer& effect, const TaskKey& key, const Role& role) const;
  void move_input(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void move_weights(Writer& effect, const Task& task, const TaskGraph& graph) const;
  bool passes(const Bucket& bucket) const { return bucket.shards > 1 || !plan_.mesh.has_copies(); }  // its gradients come and go
  Bytes gradient_buffer(const Bucket& bucket) const { return plan_.bytes(Numbers::Gradients, bucket.ready_after) * bucket.elements; }
  Bytes gradient_shard(const Bucket& bucket) const { return plan_.bytes(Numbers::Gradients, bucket.ready_after) * bucket.shard_elements; }
  void forward(Writer& effect, const TaskKey& key) const;
  void backward(Writer& effect, const TaskKey& key) const;
  void cast_forward(Writer& effect, const TaskKey& key, const Role& role) const;
  void cast_backward(Writer& effect, const Role& role) const;
  bool casts_beside(const TaskKey& key) const;
  void norm_forward(Writer& effect, const Role& role, bool forgets) const;
  void core_forward(Writer& effect, const Role& role, bool forgets, bool again) const;
  void module_forward(Writer& effect, const Role& role, bool again) const;
  void norm_backward(Writer& effect, const Role& role) const;
  void end_gradient(Writer& effect, const Role& role) const;
  void core_backward(Writer& effect, const Role& role) const;
  void meet_beside_attention(Writer& effect, const Role& role) const;
  void keep_inputs(Writer& effect, const TaskKey& key, const Role& role) const;
  void cached_backward(Writer& effect, const Role& role, SliceIndex slice) const;
  void part_back(Writer& effect, const Role& role) const;
  void begin_gradients(Writer& effect, const TaskKey& key, const TaskGraph& graph) const;
  void receive(Writer& effect, const Task& task) const;
  void move_source(Writer& effect, const Task& task) const;
  Bytes comes_beside(const TaskKey& key) const;
  void communicate(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void reshape_sequence(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void reshard(Writer& effect, const Task& task, const Bucket& bucket) const;
  bool ends_second_copy(const TaskKey& key) const;
  void reduce(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void copy_to_undo(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void begin_whole_gradients(Writer& effect, const TaskKey& key, const TaskGraph& graph) const;
  void end_gradients(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void free_reduced(Writer& effect, const Bucket& bucket) const;
  void code(Writer& effect, const Task& task, const TaskGraph& graph) const;
  bool is_encoded(const Task& gather) const {
    return bool(plan_.workload.precision.weight_codec()) && gather.key.group != MeshAxis::Reshard;
  }
  Bytes exchange_buffer(const Task& task, const TaskGraph& graph) const;
  Bytes roots(const Task& update, const TaskGraph& graph) const;
  Bytes roots(StageIndex stage) const;  // of all second moments, while its device steps them
  bool copies_exchanged(const Task& task) const;
  // What of its segment a task runs operator by operator; null: it runs otherwise.
  std::optional<SegmentRun> run_of_backward(const Role& role) const;
  std::optional<SegmentRun> run_of_forward(const Role& role) const;
  // Tensor ranks meet around a segment's products; with all tokens, of which each has a part before and behind.
  bool cuts_segment(const SegmentGraph& segment) const { return plan_.mesh.tensor > 1 && !routes_parts(plan_, segment); }
  bool cuts_sequence(const SegmentGraph& segment) const { return plan_.sequence_parallel && !routes_parts(plan_, segment); }
  // Its weights' gradients come between the parts of its backward: what the middle one made ends with them, and nothing of it is left behind.
  bool ends_inside(const SegmentGraph& segment) const { return plan_.delay_wgrad && segment.has(OperatorKind::Routing); }
  Bytes before_core(const Role& role) const;
  Bytes hidden_or_stream(const Role& role) const;
  bool is_block(LayerIndex layer) const { return layer != LayerIndex(0) && layer != model_.head(); }
  Bytes hidden_in(LayerIndex layer) const {
    return plan_.bytes(Numbers::Activations, layer) * (plan_.shard_shape().tokens() * model_.config.hidden);
  }  // of all tokens of a microbatch
  Bytes stream_in(LayerIndex layer) const {
    return plan_.sequence_parallel ? hidden_in(layer) / std::int64_t{plan_.mesh.tensor} : hidden_in(layer);
  }
  Bytes further_of(LayerIndex layer) const { return stream_in(layer) * (plan_.streams_into(LayerIndex(layer.value() + 1)) - 1); }
  const ParallelPlan& plan_of(LayerIndex layer) const { return plan_.is_apart(layer) ? *apart_ : plan_; }

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  std::optional<ParallelPlan> apart_;  // as units in a precision of their own see it
  SourceEdges source_;
  Placement placement_;
  GradientLifetime gradients_;
  bool splits_, follows_units_, keeps_inputs_;
  WholeBackwards whole_;
  mutable std::vector<std::optional<Bytes>> roots_;  // by stage, of those that were asked for
  mutable std::vector<std::optional<NextBackwards>> next_backwards_;
  ByLayerKind<GradientsCome> come_;
  ByLayerKind<std::vector<SegmentMemory>> segments_, made_;  // made_: what the backward of blocks finds that are made again by operators
  ByLayerKind<std::vector<Piece>> forward_, backward_, recompute_;
};

}  // namespace sim
