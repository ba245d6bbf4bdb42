// Writes a stage's program: visits of layers in the schedule's order (stage_program.cpp), what of them waits on the host (stage_inputs.cpp), then gradients and
// the step (stage_gradients.cpp).
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/schedule/schedule.h"
#include "sim/task_graph/host_inputs.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/task_graph/source_edges.h"
#include "sim/task_graph/stage_program.h"
#include "sim/task_graph/wire_tasks.h"
#include "sim/units/at.h"

namespace sim {

inline constexpr std::int32_t kNobody = -1;

// One layer in one phase of one action.
struct Visit {
  StageAction action;
  LayerIndex layer;                    // none: the chunk has none, and hands on what it receives
  LayerIndex unit;                     // that ZeRO-3 gathers for: its first layer
  bool opens = false, closes = false;  // first, last visit of its action
  bool last_of_chunk = false;          // its action completes the chunk's gradients
  std::vector<std::int32_t> gathered;  // buckets whose weights its unit needs gathered
};

class StageWriter {
 public:
  StageWriter(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage, const std::vector<Bucket>& buckets)
      : model_(model),
        plan_(plan),
        strategy_(sharding_strategy(plan)),
        stage_(stage),
        completes_gradients_(plan.completes_gradients()),
        buckets_(buckets),
        source_(source_edges(plan)),
        pieces_(model.firsts.size()),
        held_(buckets.size(), kNobody),
        near_(buckets.size()),
        on_host_(buckets.size(), kNobody),
        renewed_(buckets.size(), kNobody),
        sums_(buckets.size()) {
    cache_pieces();
    handed_.fill(std::vector<std::int32_t>(count_of(plan.num_pieces()), kNobody));
    for (LayerIndex layer{0}; layer <= model.head(); ++layer) buckets_by_layer_.push_back(buckets_of(layer));
  }
  StageProgram write() &&;

 private:
  struct LayerPieces {
    std::vector<Piece> forward, backward, recompute, weight;
    std::vector<Bytes> on_host;  // by segment: inputs of its modules
  };
  struct Beside {
    std::int32_t task = kNobody, chain = kNobody;  // starts with the next piece; ran beside the last one
  };
  bool shards_data() const { return plan_.mesh.copies() > 1 || plan_.mesh.expert_copies() > 1; }
  bool gathers() const { return plan_.offload_parameters || (strategy_.shards_parameters && shards_data()); }
  // The virtual stage that a visit's output goes to (its input comes from) is on this stage: handed over, not sent.
  bool is_local(const Visit& visit, std::int32_t steps) const;
  std::int32_t& handed(const Visit& visit);

  const LayerPieces& pieces_of(LayerIndex layer) const { return pieces_[model_.kind(layer)]; }
  void cache_pieces();
  std::vector<Visit> visits() const;
  void add_visits(std::vector<Visit>& visits, const StageAction& action, bool last_of_chunk) const;
  std::vector<std::int32_t> buckets_of(LayerIndex layer) const;

  std::int32_t emit(Task task, std::initializer_list<std::int32_t> after);
  TaskKey key(const Visit& visit, Phase phase, Operation operation) const;
  void write_visit(const std::vector<Visit>& visits, std::size_t at);
  struct Lane;
  std::size_t next_unit(const std::vector<Visit>& visits, std::size_t at) const;
  struct Stretch {
    std::size_t at = 0, end = 0;  // of visits
  };
  void gather(const std::vector<Visit>& visits, Stretch stretch);
  std::size_t about_to_need(const std::vector<Visit>& visits, const Lane& lane) const;
  void gather(const Visit& visit, std::int32_t after);
  std::int32_t gather(const Task& task, std::int32_t after);
  std::int32_t bring(const Task& gather, std::int32_t after);
  void reshard(const std::vector<Visit>& visits, std::size_t at);
  void reshard(const std::vector<Visit>& visits, const Lane& lane, const Lane& other);
  void reshard(const Visit& visit, std::span<const Visit> upcoming, std::span<const Visit> of_another);
  Bytes stream_bytes(LayerIndex behind) const { return handed_on(model_, plan_, behind); }
  LayerIndex before(LayerIndex layer) const { return LayerIndex(layer.value() - 1); }
  LayerIndex after(LayerIndex layer) const { return LayerIndex(layer.value() + 1); }
  Task transfer(const Visit& visit, Operation operation) const;
  Task transfer_of_source(const Visit& visit, Operation operation, StageIndex reader) const;
  void move_source(const Visit& visit, Operation operation);
  bool has_gradient(const Visit& visit, bool of_output) const;
  void receive(const Visit& visit);
  void send(const Visit& visit);
  void run(const Visit& visit, Phase phase, const std::vector<Piece>& pieces);
  void run(const Visit& visit, Phase phase, const std::vector<Piece>& pieces, std::size_t at, Beside& beside);
  void run(const Visit& visit, Phase phase, const Piece& piece, Beside& beside);
  void run_again(const Visit& visit);
  struct Cursor {
    std::size_t at = 0, piece = 0;  // a visit, and which of its pieces is next
  };
  struct Lane {  // of two actions that run together: where it stands
    std::size_t at = 0, end = 0, piece = 0;
    std::size_t end_of_weights = 0;  // with delay_wgrad, of a backward: their visits stand behind `end`, layer by layer as its own
    Cursor weights{};                // of theirs
    std::int32_t chain = kNobody;
    Beside beside{};
    bool is_done() const { return at == end; }
    std::size_t at_backward_of_weights() const { return weights.at - (end_of_weights - end); }
  };
  bool may_run_weights(const std::vector<Visit>& visits, const Lane& lane) const;
  void run_weights(const std::vector<Visit>& visits, Lane& lane);
  Lane with_weights(const std::vector<Visit>& visits, Lane backward) const;
  bool is_last_stretch(const std::vector<Visit>& visits, const Lane& lane) const;
  void run_stretch(const std::vector<Visit>& visits, Lane& lane, const Lane& other);
  std::optional<std::pair<std::size_t, std::size_t>> pair_at(const std::vector<Visit>& visits, std::size_t at) const;
  void write_pair(const std::vector<Visit>& visits, Lane backward, Lane forward);
  const std::vector<Piece>& own_pieces(const Visit& visit) const {
    const LayerPieces& pieces = pieces_of(visit.layer);
    return visit.action.kind == ActionKind::Forward  ? pieces.forward
           : visit.action.kind == ActionKind::Weight ? pieces.weight
                                                     : pieces.backward;
  }
  bool runs_again(const Visit& visit) const {  // in front of its backward; blocks that are made again together in front of the last one's
    return !pieces_of(visit.layer).recompute.empty() &&
           (plan_.recompute == Recompute::Selective || (plan_.recomputes(visit.layer, visit.action.microbatch) &&
                                                        !plan_.makes_input_again(after(visit.layer), visit.action.microbatch)));
  }
  bool has_input_on_host(const Visit& visit) const { return plan_.offload_activations && !pieces_of(visit.layer).recompute.empty(); }
  using InputPlace = std::tuple<LayerIndex, MicrobatchIndex, std::int32_t>;  // of a segment
  void keep_on_host(const Visit& visit, std::int32_t segment, Bytes payload);
  void keep_inputs_of_modules(const Visit& visit, std::int32_t segment);
  void fetch(const InputPlace& place, std::int32_t after);
  void fetch(const Visit& visit);
  std::optional<InputPlace> next_input(const StageAction& action, LayerIndex layer, std::int32_t segment) const;
  std::int32_t num_segments(LayerIndex layer) const { return static_cast<std::int32_t>(model_.layer(layer).segments.size()); }
  std::int32_t take_inputs(const Visit& visit, std::int32_t segment);
  void fetch_ahead(const Visit& visit, std::int32_t segment);
  bool waits_for_head(const Bucket& bucket) const;
  void write_delayed_weights();
  void reduce_ready(const Visit& visit);
  std::int32_t reduce(const Bucket& bucket, BucketIndex index, MicrobatchIndex microbatch, std::int32_t after);
  void finish_bucket(BucketIndex index, std::int32_t reduced);
  void copy_to_host(BucketIndex index, MicrobatchIndex microbatch, std::int32_t after);
  std::int32_t add_on_host(BucketIndex index, MicrobatchIndex microbatch, std::int32_t reduced);
  struct Replicated {
    std::int64_t elements = 0;
    Bytes number{};
  };
  Replicated replicated() const;
  void finish_gradients();
  std::vector<std::int32_t> read_by(LayerIndex layer) const;
  void find_new_weights(const std::vector<Visit>& visits);
  bool renews_when_read() const { return plan_.overlap_weight_gather || sums_parts(); }
  bool gathers_by_chunk() const { return plan_.overlap_weight_gather && plan_.chunks > 1; }
  void gather_ahead(const Visit& visit);
  std::vector<std::int32_t> await_new_weights(const Visit& visit);
  void note_readers(const Visit& visit, std::int32_t first);
  std::int32_t renew(std::int32_t bucket);
  Task gather_of_new_weights(BucketIndex index) const;
  bool sums_parts() const { return plan_.sums_by_priority(); }
  void reduce_in_parts(BucketIndex index, const Visit& visit);
  Task step_task(Operation operation, MeshAxis group, Stream stream) const {
    return {.key = {.stage = stage_, .phase = Phase::Step, .operation = operation, .group = group}, .stream = stream};
  }
  Task tell(Operation operation, std::int32_t when) const;
  std::int32_t agree(std::int32_t ready);
  void agree_on_maxima(std::int32_t ready);
  std::int32_t agree_with_stage_before(std::int32_t ready);
  void validate();
  void step();
  std::int32_t update(BucketIndex index, std::int32_t ready);
  void send_weights(BucketIndex index, std::int32_t updated);

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  const ShardingStrategy& strategy_;
  StageIndex stage_;
  ActionKind completes_gradients_;
  const std::vector<Bucket>& buckets_;
  StageProgram program_;
  SourceEdges source_;
  ByLayerKind<LayerPieces> pieces_;
  std::vector<std::vector<std::int32_t>> buckets_by_layer_;
  std::vector<std::int32_t> held_;  // by bucket: the gather that filled it, or kNobody
  std::vector<bool> near_;          // by bucket: neighbours have kept it among them since a forward
  std::int32_t chain_ = kNobody;    // the task that made what the next piece reads
  std::array<std::vector<std::int32_t>, 2> handed_;
  std::int32_t last_compute_ = kNobody;  // of the whole stage; or what it has asked others for on its way
  std::int32_t last_reduce_ = kNobody;
  struct Input {
    StageAction action;  // that reads it
    Bytes payload{};
    std::int32_t copied = kNobody, fetched = kNobody;
  };
  std::map<InputPlace, Input> inputs_;  // of blocks or modules, while they wait on the host
  std::optional<NextBackwards> next_backwards_;
  std::vector<std::int32_t> on_host_;  // by bucket, where the optimizer is: the copy of its gradients
  // Weights of the step before, bucket by bucket as forward reads them: the task that makes each new, once it is written; else their first reader.
  std::vector<std::int32_t> new_weights_, renewed_;
  std::size_t next_new_ = 0, next_read_ = 0;
  std::vector<ChunkIndex> forwards_;  // chunks of the step's forwards, in their order
  std::size_t next_forward_ = 0;
  std::vector<std::vector<std::int32_t>> sums_;  // by bucket: of its parts
  std::int32_t num_parts_ = 0;
  std::int32_t told_ = kNobody, validation_ = kNobody;
};

}  // namespace sim
