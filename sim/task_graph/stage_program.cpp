#include "sim/task_graph/stage_program.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sim/schedule/schedule.h"
#include "sim/task_graph/layer_tasks.h"

namespace sim {
namespace {

constexpr std::int32_t kNobody = -1;

// One layer in one phase of one action.
struct Visit {
  StageAction action;
  LayerIndex layer;                    // none: the chunk has none, and hands on what it receives
  LayerIndex unit;                     // that ZeRO-3 gathers for: its first layer
  bool opens = false, closes = false;  // first, last visit of its action
  bool last_of_chunk = false;          // its action completes the chunk's gradients
  std::vector<std::int32_t> gathered;  // buckets whose weights its unit needs gathered
};

class Writer {
 public:
  Writer(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage, const std::vector<Bucket>& buckets)
      : model_(model),
        plan_(plan),
        strategy_(sharding_strategy(plan)),
        stage_(stage),
        completes_gradients_(plan.completes_gradients()),
        buckets_(buckets),
        pieces_(model.firsts.size()),
        held_(buckets.size(), kNobody),
        near_(buckets.size()),
        on_host_(buckets.size(), kNobody) {
    cache_pieces();
    handed_.fill(std::vector<std::int32_t>(static_cast<std::size_t>(plan.num_microbatches()), kNobody));
    for (LayerIndex layer{0}; layer <= model.head(); ++layer) buckets_by_layer_.push_back(buckets_of(layer));
  }
  StageProgram write() &&;

 private:
  struct LayerPieces {
    std::vector<Piece> forward, backward, recompute, weight;
  };
  bool shards_data() const { return plan_.mesh.copies() > 1 || plan_.mesh.expert_copies() > 1; }
  bool gathers() const { return strategy_.shards_parameters && shards_data(); }
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
  std::size_t next_unit(const std::vector<Visit>& visits, std::size_t at) const;
  void gather(const Visit& visit, std::int32_t after);
  void reshard(const std::vector<Visit>& visits, std::size_t at);
  Bytes stream_bytes(LayerIndex behind) const { return handed_on(model_, plan_, behind); }
  LayerIndex before(LayerIndex layer) const { return LayerIndex(layer.value() - 1); }
  Task transfer(const Visit& visit, Operation operation) const;
  void receive(const Visit& visit);
  void send(const Visit& visit);
  struct Beside {
    std::int32_t task = kNobody, chain = kNobody;  // starts with the next piece; ran beside the last one
  };
  void run(const Visit& visit, Phase phase, const std::vector<Piece>& pieces);
  void run(const Visit& visit, Phase phase, const Piece& piece, Beside& beside);
  void run_again(const Visit& visit);
  struct Lane {  // of two actions that run together: where it stands
    std::size_t at = 0, end = 0, piece = 0;
    std::int32_t chain = kNobody;
    Beside beside{};
    bool is_done() const { return at == end; }
  };
  bool is_last_stretch(const std::vector<Visit>& visits, const Lane& lane) const;
  void run_stretch(const std::vector<Visit>& visits, Lane& lane);
  void write_pair(const std::vector<Visit>& visits, Lane backward, Lane forward);
  const std::vector<Piece>& own_pieces(const Visit& visit) const {
    const LayerPieces& pieces = pieces_of(visit.layer);
    return visit.action.kind == ActionKind::Forward ? pieces.forward : pieces.backward;
  }
  bool runs_again(const Visit& visit) const {
    return !pieces_of(visit.layer).recompute.empty() &&
           (plan_.recompute == Recompute::Selective || plan_.recomputes(visit.layer, visit.action.microbatch));
  }
  bool has_input_on_host(const Visit& visit) const { return plan_.offload_activations && !pieces_of(visit.layer).recompute.empty(); }
  void keep_on_host(const Visit& visit);
  void fetch(const Visit& visit, std::int32_t after);
  void reduce_ready(const Visit& visit);
  std::int32_t reduce(const Bucket& bucket, std::int32_t index, MicrobatchIndex microbatch, std::int32_t after);
  void finish_bucket(std::int32_t index, std::int32_t reduced);
  void copy_to_host(std::int32_t index, std::int32_t after);
  std::int64_t replicated_elements() const;
  void finish_gradients();
  void step();
  std::int32_t update(std::int32_t index, std::int32_t ready);

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  const ShardingStrategy& strategy_;
  StageIndex stage_;
  ActionKind completes_gradients_;
  const std::vector<Bucket>& buckets_;
  StageProgram program_;
  ByLayerKind<LayerPieces> pieces_;
  std::vector<std::vector<std::int32_t>> buckets_by_layer_;
  std::vector<std::int32_t> held_;  // by bucket: the gather that filled it, or kNobody
  std::vector<bool> near_;          // by bucket: neighbours have kept it among them since a forward
  std::int32_t chain_ = kNobody;    // the task that made what the next piece reads
  std::array<std::vector<std::int32_t>, 2> handed_;
  std::int32_t last_compute_ = kNobody;  // of the whole stage
  std::int32_t last_reduce_ = kNobody;
  struct Input {
    std::int32_t copied = kNobody, fetched = kNobody;
  };
  std::map<std::pair<LayerIndex, MicrobatchIndex>, Input> inputs_;  // of blocks, while they wait on the host
  std::vector<std::int32_t> on_host_;                               // by bucket, where the optimizer is: the copy of its gradients
};

void Writer::cache_pieces() {
  for (const LayerIndex layer : model_.firsts) {
    pieces_[model_.kind(layer)] = {forward_pieces(model_, plan_, layer), backward_pieces(model_, plan_, layer),
                                   recompute_pieces(model_, plan_, layer), weight_pieces(model_, layer)};
  }
}

// The buckets whose weights a layer's unit reads; on the embedding's stage a tied head reads the embedding's.
std::vector<std::int32_t> Writer::buckets_of(LayerIndex layer) const {
  if (!gathers()) return {};
  const bool reads_embedding = layer == model_.head() && plan_.head_reads_embedding();
  const LayerRange unit = unit_of(plan_, layer);
  std::vector<std::int32_t> found;
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    const auto& slots = buckets_[at].slots;
    const bool holds = std::any_of(slots.begin(), slots.end(), [&](const BucketSlot& slot) {
      return (unit.begin <= slot.layer && slot.layer < unit.end) || (reads_embedding && slot.layer == LayerIndex(0));
    });
    if (holds && buckets_[at].shards > 1) found.push_back(static_cast<std::int32_t>(at));
  }
  return found;
}

void Writer::add_visits(std::vector<Visit>& visits, const StageAction& action, bool last_of_chunk) const {
  const LayerRange range = plan_.layers(stage_, action.chunk);
  const std::size_t begin = visits.size();
  for (LayerIndex layer = range.begin; layer < range.end; ++layer) {
    visits.push_back(
        {.action = action, .layer = layer, .unit = unit_of(plan_, layer).begin, .last_of_chunk = last_of_chunk, .gathered = {}});
    if (action.kind != ActionKind::Weight) visits.back().gathered = buckets_by_layer_[layer.position()];
  }
  if (range.begin == range.end) {
    if (action.kind != ActionKind::Weight)
      visits.push_back(
          {.action = action, .layer = LayerIndex::none(), .unit = LayerIndex::none(), .opens = true, .closes = true, .gathered = {}});
    return;
  }
  if (action.kind != ActionKind::Forward) std::reverse(visits.begin() + static_cast<std::ptrdiff_t>(begin), visits.end());
  visits[begin].opens = true;
  visits.back().closes = true;
}

std::vector<Visit> Writer::visits() const {
  const std::vector<StageAction> order = plan_.order(stage_);
  std::vector<std::size_t> last(static_cast<std::size_t>(plan_.chunks), 0);  // of a chunk: the action that completes its gradients
  for (std::size_t at = 0; at < order.size(); ++at)
    if (order[at].kind == completes_gradients_) last[order[at].chunk.position()] = at;
  std::vector<Visit> visits;
  for (std::size_t at = 0; at < order.size(); ++at) add_visits(visits, order[at], last[order[at].chunk.position()] == at);
  return visits;
}

// Appends a task. An edge is written only where the order of one stream does not already say it.
std::int32_t Writer::emit(Task task, std::initializer_list<std::int32_t> after) {
  const auto id = static_cast<std::int32_t>(program_.tasks.size());
  for (const std::int32_t before : after)
    if (before != kNobody && program_.tasks[static_cast<std::size_t>(before)].stream != task.stream)
      program_.edges.emplace_back(before, id);
  if (task.stream == Stream::Compute) last_compute_ = id;
  if (task.stream == Stream::Reduce) last_reduce_ = id;
  program_.tasks.push_back(std::move(task));
  return id;
}

TaskKey Writer::key(const Visit& visit, Phase phase, Operation operation) const {
  return {.stage = stage_,
          .chunk = visit.action.chunk,
          .microbatch = visit.action.microbatch,
          .layer = visit.layer,
          .phase = phase,
          .operation = operation};
}

// The first visit of another unit, or of another action.
std::size_t Writer::next_unit(const std::vector<Visit>& visits, std::size_t at) const {
  std::size_t next = at + 1;
  while (next < visits.size() && !visits[at].gathered.empty() && !visits[next - 1].closes && visits[next].unit == visits[at].unit) ++next;
  return next;
}

void Writer::gather(const Visit& visit, std::int32_t after) {
  for (const std::int32_t bucket : visit.gathered) {
    if (held_[static_cast<std::size_t>(bucket)] != kNobody) continue;
    Task task{.key = key(visit, visit.action.kind == ActionKind::Forward ? Phase::Forward : Phase::Backward, Operation::AllGather),
              .stream = Stream::Gather,
              .bucket = BucketIndex(bucket),
              .payload = gathered_bytes(plan_, buckets_[static_cast<std::size_t>(bucket)])};
    task.key.layer = visit.unit;
    task.key.group = near_[static_cast<std::size_t>(bucket)] ? MeshAxis::Reshard : axis_of(buckets_[static_cast<std::size_t>(bucket)]);
    task.key.sequence = bucket;
    near_[static_cast<std::size_t>(bucket)] = false;
    held_[static_cast<std::size_t>(bucket)] = emit(task, {after});
  }
}

// Frees what the visit needed, unless the next visit needs it too, or it stays from forward to backward.
void Writer::reshard(const std::vector<Visit>& visits, std::size_t at) {
  const Visit& visit = visits[at];
  const auto needed_later = [&](std::int32_t bucket) {
    const std::size_t horizon = plan_.reshard_after_forward ? std::min(at + 2, visits.size()) : visits.size();
    for (std::size_t next = at + 1; next < horizon; ++next)
      if (std::count(visits[next].gathered.begin(), visits[next].gathered.end(), bucket) > 0) return true;
    return false;
  };
  for (const std::int32_t bucket : visit.gathered) {
    if (needed_later(bucket)) continue;
    Task task{.key = key(visit, visit.action.kind == ActionKind::Forward ? Phase::Forward : Phase::Backward, Operation::Reshard),
              .bucket = BucketIndex(bucket)};
    task.key.layer = visit.unit;
    task.key.sequence = bucket;
    emit(task, {});
    held_[static_cast<std::size_t>(bucket)] = kNobody;
    near_[static_cast<std::size_t>(bucket)] =
        visit.action.kind == ActionKind::Forward && kept_after_forward(plan_, buckets_[static_cast<std::size_t>(bucket)]).value() > 0;
  }
}

// `steps` virtual stages on: 1 where the output goes forward, -1 where it goes backward.
bool Writer::is_local(const Visit& visit, std::int32_t steps) const {
  return plan_.site(plan_.virtual_stage({stage_, visit.action.chunk}) + steps).stage == stage_;
}

// The task that made what the next chunk of this stage reads, by direction and microbatch.
std::int32_t& Writer::handed(const Visit& visit) {
  return handed_[visit.action.kind == ActionKind::Forward ? 0 : 1][visit.action.microbatch.position()];
}

// What goes forward is a layer's output; what goes back is the gradient of its input.
Task Writer::transfer(const Visit& visit, Operation operation) const {
  const bool is_output = (visit.action.kind == ActionKind::Forward) == (operation == Operation::Send);
  Task task{.key = key(visit, visit.action.kind == ActionKind::Forward ? Phase::Forward : Phase::Backward, operation),
            .stream = operation == Operation::Send ? Stream::Send : Stream::Receive,
            .payload = stream_bytes(is_output ? visit.layer : before(visit.layer))};
  task.key.group = MeshAxis::Pipeline;
  return task;
}

void Writer::receive(const Visit& visit) {
  const bool forward = visit.action.kind == ActionKind::Forward;
  chain_ = kNobody;
  if (visit.action.kind == ActionKind::Weight) return;
  if (plan_.virtual_stage({stage_, visit.action.chunk}) == (forward ? 0 : plan_.num_virtual_stages() - 1)) return;
  chain_ = is_local(visit, forward ? -1 : 1) ? handed(visit) : emit(transfer(visit, Operation::Receive), {});
}

void Writer::send(const Visit& visit) {
  const bool forward = visit.action.kind == ActionKind::Forward;
  if (visit.action.kind == ActionKind::Weight) return;
  if (plan_.virtual_stage({stage_, visit.action.chunk}) == (forward ? plan_.num_virtual_stages() - 1 : 0)) return;
  if (is_local(visit, forward ? 1 : -1))
    handed(visit) = chain_;
  else
    emit(transfer(visit, Operation::Send), {chain_});
}

void Writer::run(const Visit& visit, Phase phase, const Piece& piece, Beside& beside) {
  Task task{.key = key(visit, phase, piece.operation), .payload = piece.payload};
  task.key.sequence = piece.sequence;
  task.key.group = piece.group;
  if (piece.group != MeshAxis::None) task.stream = piece.group == MeshAxis::Tensor ? Stream::Tensor : Stream::Exchange;
  const std::int32_t id = emit(task, {chain_, beside.chain});
  if (piece.beside_next) {
    beside.task = id;
  } else {
    chain_ = id;
    beside.chain = std::exchange(beside.task, kNobody);
  }
}

void Writer::run(const Visit& visit, Phase phase, const std::vector<Piece>& pieces) {
  Beside beside;
  for (const Piece& piece : pieces) run(visit, phase, piece, beside);
}

// The last task that its gradients wait for.
std::int32_t Writer::reduce(const Bucket& bucket, std::int32_t index, MicrobatchIndex microbatch, std::int32_t after) {
  if (!is_reduced(bucket, plan_)) return after;
  Task task{.key = {.stage = stage_,
                    .chunk = bucket.chunk,
                    .microbatch = microbatch,
                    .layer = bucket.ready_after,
                    .phase = Phase::Gradients,
                    .operation = scatters_gradients(plan_) ? Operation::ReduceScatter : Operation::AllReduce,
                    .group = axis_of(bucket),
                    .sequence = index},
            .stream = Stream::Reduce,
            .bucket = BucketIndex(index),
            .payload = plan_.bytes(Numbers::Wire) * bucket.elements};
  std::int32_t last = bucket.shards > 1 ? emit(task, {after}) : after;
  if (plan_.mesh.replicas > 1) {  // what is left of the shard (of all, where nothing is sharded) over the replicas
    task.key.operation = Operation::AllReduce;
    task.key.group = MeshAxis::Replica;
    task.payload = plan_.bytes(Numbers::Wire) * (scatters_gradients(plan_) ? bucket.shard_elements : bucket.elements);
    last = bucket.shards > 1 ? emit(task, {}) : emit(task, {last});
  }
  const bool accumulates = plan_.accumulation == Accumulation::ReduceEach && plan_.num_microbatches() > 1 && !bucket.tied;
  if (!accumulates) return last;
  task.key.operation = Operation::Accumulate;
  task.key.group = MeshAxis::None;
  task.payload = Bytes{};
  return emit(task, {});
}

// The optimizer's part of a bucket goes to the host as soon as its gradients are final, beside the backward of the layers below, as DeepSpeed sends
// each reduced bucket (stage_1_and_2.py: copy_grads_in_partition); where tensor ranks still have to sum parts of them, after that.
void Writer::finish_bucket(std::int32_t index, std::int32_t reduced) {
  if (plan_.offload_optimizer && replicated_elements() == 0) copy_to_host(index, reduced);
}

void Writer::copy_to_host(std::int32_t index, std::int32_t after) {
  const Bucket& bucket = buckets_[static_cast<std::size_t>(index)];
  Task copy{.key = {.stage = stage_,
                    .chunk = bucket.chunk,
                    .layer = bucket.ready_after,
                    .phase = Phase::Gradients,
                    .operation = Operation::CopyToHost,
                    .sequence = index},
            .stream = Stream::ToHost,
            .bucket = BucketIndex(index),
            .payload = plan_.bytes(Numbers::Gradients) * stepped_elements(bucket, plan_)};
  on_host_[static_cast<std::size_t>(index)] = emit(copy, {after});
}

// A block's input leaves when its forward has read it, and comes back beside the backward before its own.
void Writer::keep_on_host(const Visit& visit) {
  const Task copy{
      .key = key(visit, Phase::Forward, Operation::CopyToHost), .stream = Stream::ToHost, .payload = stream_bytes(before(visit.layer))};
  inputs_[{visit.layer, visit.action.microbatch}].copied = emit(copy, {last_compute_});
}

void Writer::fetch(const Visit& visit, std::int32_t after) {
  const auto input = inputs_.find({visit.layer, visit.action.microbatch});
  if (visit.action.kind != ActionKind::Backward || input == inputs_.end() || input->second.fetched != kNobody) return;
  const Task copy{.key = key(visit, Phase::Backward, Operation::CopyToDevice),
                  .stream = Stream::ToDevice,
                  .payload = stream_bytes(before(visit.layer))};
  input->second.fetched = emit(copy, {input->second.copied, after});
}

void Writer::reduce_ready(const Visit& visit) {
  if (visit.action.kind != completes_gradients_) return;
  if (plan_.accumulation == Accumulation::ReduceLast && !visit.last_of_chunk) return;
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    const Bucket& bucket = buckets_[at];
    if (bucket.ready_after != visit.layer || bucket.chunk != visit.action.chunk || bucket.tied || bucket.frozen) continue;
    const auto index = static_cast<std::int32_t>(at);
    const std::int32_t reduced = reduce(bucket, index, visit.action.microbatch, last_compute_);
    if (visit.last_of_chunk) finish_bucket(index, reduced);
  }
}

// Recomputing need not wait for the gradient; a gather that it begins with comes when what was issued before is done.
void Writer::run_again(const Visit& visit) {
  const std::vector<Piece>& pieces = pieces_of(visit.layer).recompute;
  const bool begins_with_gather = pieces.front().group != MeshAxis::None;
  const std::int32_t gradient = std::exchange(chain_, begins_with_gather ? last_compute_ : kNobody);
  run(visit, Phase::Recompute, pieces);
  if (gradient != kNobody && program_.tasks[static_cast<std::size_t>(gradient)].stream != Stream::Compute)
    program_.edges.emplace_back(gradient, static_cast<std::int32_t>(program_.tasks.size()));  // to the first backward task
}

// A stretch ends behind an exchange of tokens, or with the action.
bool ends_stretch(const std::vector<Piece>& pieces, std::size_t at) {
  const auto exchanges = [](const Piece& piece) { return piece.group == MeshAxis::Expert || piece.group == MeshAxis::ExpertTensor; };
  return exchanges(pieces[at]) && !pieces[at].beside_next && (at + 1 == pieces.size() || !exchanges(pieces[at + 1]));
}

bool Writer::is_last_stretch(const std::vector<Visit>& visits, const Lane& lane) const {
  for (std::size_t at = lane.at, piece = lane.piece; at < lane.end; ++at, piece = 0)
    for (const std::vector<Piece>& pieces = own_pieces(visits[at]); piece < pieces.size(); ++piece)
      if (ends_stretch(pieces, piece)) return false;
  return true;
}

void Writer::run_stretch(const std::vector<Visit>& visits, Lane& lane) {
  std::swap(chain_, lane.chain);
  for (bool goes_on = true; goes_on && !lane.is_done();) {
    const Visit& visit = visits[lane.at];
    const bool forward = visit.action.kind == ActionKind::Forward, begins = lane.piece == 0;
    const std::vector<Piece>& pieces = own_pieces(visit);
    if (begins && visit.opens) receive(visit);
    if (begins && !forward && runs_again(visit)) run_again(visit);
    while (goes_on && lane.piece < pieces.size()) {
      goes_on = !ends_stretch(pieces, lane.piece);
      run(visit, forward ? Phase::Forward : Phase::Backward, pieces[lane.piece++], lane.beside);
    }
    if (lane.piece < pieces.size()) break;
    if (visit.closes) send(visit);
    reduce_ready(visit);
    ++lane.at;
    lane.piece = 0;
    lane.beside = {};
  }
  std::swap(chain_, lane.chain);
}

// While one exchanges tokens the other computes (Megatron-Core's combined 1F1B; DualPipe, DeepSeek-V3). The forward ends last.
//
//   compute    B head | F attention |  B experts  | F experts | B attention | ...
//   exchange          | B combine   |  F dispatch | B dispatch| F combine   |
void Writer::write_pair(const std::vector<Visit>& visits, Lane backward, Lane forward) {
  while (!backward.is_done() || !forward.is_done()) {
    if (!backward.is_done()) run_stretch(visits, backward);
    if (backward.is_done() || !is_last_stretch(visits, forward)) run_stretch(visits, forward);
  }
}

void Writer::write_visit(const std::vector<Visit>& visits, std::size_t at) {
  const Visit& visit = visits[at];
  if (visit.opens) receive(visit);
  if (!visit.layer.exists()) return send(visit);
  gather(visit, last_compute_);
  if (const std::size_t next = next_unit(visits, at); plan_.prefetch && next < visits.size()) gather(visits[next], last_compute_);
  fetch(visit, last_compute_);
  if (plan_.prefetch && at + 1 < visits.size()) fetch(visits[at + 1], last_compute_);
  const std::size_t first = program_.tasks.size();
  const LayerPieces& pieces = pieces_of(visit.layer);
  if (visit.action.kind == ActionKind::Forward)
    run(visit, Phase::Forward, pieces.forward);
  else if (visit.action.kind == ActionKind::Weight)
    run(visit, Phase::Weight, pieces.weight);
  else {
    if (runs_again(visit)) run_again(visit);
    run(visit, Phase::Backward, pieces.backward);
  }
  for (const std::int32_t bucket : visit.gathered)
    program_.edges.emplace_back(held_[static_cast<std::size_t>(bucket)], static_cast<std::int32_t>(first));
  if (visit.action.kind == ActionKind::Forward && has_input_on_host(visit)) keep_on_host(visit);
  if (visit.action.kind == ActionKind::Backward && has_input_on_host(visit)) {
    const auto input = inputs_.find({visit.layer, visit.action.microbatch});
    program_.edges.emplace_back(input->second.fetched, static_cast<std::int32_t>(first));
    inputs_.erase(input);
  }
  if (visit.closes) send(visit);
  reshard(visits, at);
  reduce_ready(visit);
}

// Parameters that every tensor rank holds in full, with a part of their gradients.
std::int64_t Writer::replicated_elements() const {
  std::int64_t elements = 0;
  for (ChunkIndex chunk{0}; chunk.value() < plan_.chunks; ++chunk)
    for (LayerIndex layer = plan_.layers(stage_, chunk).begin; layer < plan_.layers(stage_, chunk).end; ++layer)
      for (const Parameter& parameter : model_.layer(layer).parameters)
        if (sums_over_tensor(parameter, plan_)) elements += local_elements(parameter, plan_.mesh);
  return elements;
}

// After the last action: gradients that several ranks hold copies of.
void Writer::finish_gradients() {
  const Bytes element = plan_.bytes(Numbers::Wire);
  if (const std::int64_t replicated = replicated_elements(); replicated > 0) {
    Task sum{.key = {.stage = stage_, .phase = Phase::Gradients, .operation = Operation::AllReduce, .group = MeshAxis::Tensor},
             .stream = Stream::Reduce};
    sum.payload = element * replicated;
    emit(sum, {last_compute_});
  }
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    const Bucket& bucket = buckets_[at];
    if (!bucket.tied) continue;
    const auto index = static_cast<std::int32_t>(at);
    Task sum{.key = {.stage = stage_, .chunk = bucket.chunk, .layer = bucket.ready_after, .phase = Phase::Gradients},
             .stream = Stream::Reduce};
    sum.key.operation = Operation::AllReduce;
    sum.key.group = MeshAxis::Embedding;
    sum.key.sequence = index;
    sum.bucket = BucketIndex(index);
    sum.payload = element * bucket.elements;
    finish_bucket(index, reduce(bucket, index, MicrobatchIndex::none(), emit(sum, {last_compute_})));
  }
  for (std::size_t at = 0; plan_.offload_optimizer && at < buckets_.size(); ++at)
    if (on_host_[at] == kNobody && !buckets_[at].frozen) copy_to_host(static_cast<std::int32_t>(at), last_reduce_);
}

// On the device, or on the host: then the new weights come up, beside the host's work on the next bucket (DeepSpeed's CPU-Adam copies tile by tile).
std::int32_t Writer::update(std::int32_t index, std::int32_t ready) {
  const Bucket& bucket = buckets_[static_cast<std::size_t>(index)];
  Task task{.key = {.stage = stage_, .layer = bucket.ready_after, .phase = Phase::Step, .operation = Operation::Update, .sequence = index},
            .bucket = BucketIndex(index)};
  if (!plan_.offload_optimizer) return emit(task, {ready});
  task.key.operation = Operation::HostUpdate;
  task.stream = Stream::Host;
  const std::int32_t updated = emit(task, {ready, on_host_[static_cast<std::size_t>(index)]});
  task.key.operation = Operation::CopyToDevice;
  task.stream = Stream::ToDevice;
  task.payload = plan_.bytes(Numbers::Weights) * stepped_elements(bucket, plan_);
  return emit(task, {updated});
}

void Writer::step() {
  const auto task = [&](Operation operation, MeshAxis group, Stream stream) {
    return Task{.key = {.stage = stage_, .phase = Phase::Step, .operation = operation, .group = group}, .stream = stream};
  };
  std::int32_t ready = emit(task(Operation::NormPart, MeshAxis::None, Stream::Compute), {last_reduce_});
  if (plan_.mesh.ranks() > 1) {
    Task sum = task(Operation::AllReduce, MeshAxis::World, Stream::Reduce);
    sum.payload = kStepSummary;
    ready = emit(sum, {ready});
  }
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    if (buckets_[at].frozen) continue;
    const auto index = static_cast<std::int32_t>(at);
    const std::int32_t updated = update(index, ready);
    if (!strategy_.shards_optimizer || strategy_.shards_parameters || buckets_[at].shards == 1) continue;
    Task weights = task(Operation::AllGather, axis_of(buckets_[at]), Stream::Gather);
    weights.key.layer = buckets_[at].ready_after;
    weights.key.sequence = index;
    weights.bucket = BucketIndex(index);
    weights.payload = gathered_bytes(plan_, buckets_[at]);
    emit(weights, {updated});
  }
}

StageProgram Writer::write() && {
  const std::vector<Visit> all = visits();
  program_.tasks.reserve(all.size() * (pieces_of(LayerIndex(1)).backward.size() + pieces_of(LayerIndex(1)).recompute.size() + 2));
  program_.edges.reserve(program_.tasks.capacity() / 2);
  const auto end_of_action = [&](std::size_t at) {
    while (!all[at].closes) ++at;
    return at + 1;
  };
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = end_of_action(at);
    const bool is_pair = plan_.expert_overlap && all[at].action.kind == ActionKind::Backward && all[at].layer.exists() &&
                         end < all.size() && all[end].action.kind == ActionKind::Forward && all[end].layer.exists();
    if (is_pair)
      write_pair(all, {.at = at, .end = end}, {.at = end, .end = end_of_action(end)});
    else
      for (std::size_t each = at; each < end; ++each) write_visit(all, each);
    at = is_pair ? end_of_action(end) : end;
  }
  finish_gradients();
  step();
  return std::move(program_);
}

}  // namespace

StageProgram make_stage_program(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage, const std::vector<Bucket>& buckets) {
  return Writer(model, plan, stage, buckets).write();
}

}  // namespace sim
