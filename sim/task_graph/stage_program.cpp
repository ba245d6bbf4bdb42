#include "sim/task_graph/stage_program.h"

#include <algorithm>

#include "sim/task_graph/stage_writer.h"
#include "sim/units/at.h"

namespace sim {
namespace {

Phase phase_of(ActionKind kind) {
  return kind == ActionKind::Forward ? Phase::Forward : kind == ActionKind::Weight ? Phase::Weight : Phase::Backward;
}

// A stretch ends behind an exchange of tokens, or with the action.
bool ends_stretch(const std::vector<Piece>& pieces, std::size_t at) {
  const auto exchanges = [](const Piece& piece) {
    return !piece.within && (piece.group == MeshAxis::Expert || piece.group == MeshAxis::ExpertTensor);
  };
  return exchanges(pieces[at]) && !pieces[at].beside_next && (at + 1 == pieces.size() || !exchanges(pieces[at + 1]));
}

}  // namespace

void StageWriter::cache_pieces() {
  for (const LayerIndex layer : model_.firsts) {
    pieces_[model_.kind(layer)] = {forward_pieces(model_, plan_, layer),
                                   backward_pieces(model_, plan_, layer),
                                   recompute_pieces(model_, plan_, layer),
                                   weight_pieces(model_, layer),
                                   {}};
    if (plan_.offload_modules.none() || layer == LayerIndex(0) || layer == model_.head()) continue;
    for (const SegmentGraph& segment : model_.layer(layer).segments)
      pieces_[model_.kind(layer)].on_host.push_back(inputs_on_host(model_, plan_, segment));
  }
}

// The buckets whose weights a layer's unit reads: the embedding's among them, where it reads that.
std::vector<std::int32_t> StageWriter::buckets_of(LayerIndex layer) const {
  if (!gathers()) return {};
  const bool reads_embedding = plan_.reads_embedding(layer);
  const LayerRange unit = unit_of(plan_, layer);
  std::vector<std::int32_t> found;
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    const auto& slots = buckets_[at].slots;
    const bool holds = std::any_of(slots.begin(), slots.end(), [&](const BucketSlot& slot) {
      return (unit.begin <= slot.layer && slot.layer < unit.end) || (reads_embedding && slot.layer == LayerIndex(0));
    });
    if (holds && !buckets_[at].persistent && (buckets_[at].shards > 1 || plan_.offload_parameters))
      found.push_back(static_cast<std::int32_t>(at));
  }
  return found;
}

void StageWriter::add_visits(std::vector<Visit>& visits, const StageAction& action, bool last_of_chunk) const {
  const LayerRange range = plan_.layers(stage_, action.chunk);
  const std::size_t begin = visits.size();
  for (LayerIndex layer = range.begin; layer < range.end; ++layer) {
    visits.push_back(
        {.action = action, .layer = layer, .unit = unit_of(plan_, layer).begin, .last_of_chunk = last_of_chunk, .gathered = {}});
    if (action.kind == ActionKind::Forward || (action.kind == ActionKind::Backward && model_.goes_back(layer)))
      visits.back().gathered = buckets_by_layer_[layer.position()];
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

std::vector<Visit> StageWriter::visits() const {
  const std::vector<StageAction> order = plan_.order(stage_);
  std::vector<std::size_t> last(count_of(plan_.chunks), 0);  // of a chunk: the action that completes its gradients
  for (std::size_t at = 0; at < order.size(); ++at)
    if (order[at].kind == completes_gradients_) last[order[at].chunk.position()] = at;
  std::vector<Visit> visits;
  for (std::size_t at = 0; at < order.size(); ++at) add_visits(visits, order[at], last[order[at].chunk.position()] == at);
  return visits;
}

// Appends a task. An edge is written only where the order of one stream does not already say it. Computing goes on behind what the last computation has asked.
std::int32_t StageWriter::emit(Task task, std::initializer_list<std::int32_t> after) {
  const auto id = static_cast<std::int32_t>(program_.tasks.size());
  const auto wait_for = [&](std::int32_t before) {
    if (before != kNobody && sim::at(program_.tasks, before).stream != task.stream) program_.edges.emplace_back(before, id);
  };
  for (const std::int32_t before : after) wait_for(before);
  if (task.stream == Stream::Compute) {
    if (std::ranges::find(after, last_compute_) == after.end()) wait_for(last_compute_);
    last_compute_ = id;
  }
  if (task.stream == Stream::Reduce) last_reduce_ = id;
  program_.tasks.push_back(std::move(task));
  return id;
}

TaskKey StageWriter::key(const Visit& visit, Phase phase, Operation operation) const {
  return {.stage = stage_,
          .chunk = visit.action.chunk,
          .microbatch = visit.action.microbatch,
          .slice = visit.action.slice,
          .layer = visit.layer,
          .phase = phase,
          .operation = operation};
}

// The first visit of another unit, or of another action.
std::size_t StageWriter::next_unit(const std::vector<Visit>& visits, std::size_t at) const {
  std::size_t next = at + 1;
  while (next < visits.size() && !visits[at].gathered.empty() && !visits[next - 1].closes && visits[next].unit == visits[at].unit) ++next;
  return next;
}

// For the visit that begins, and for the units behind it that the plan gathers beside it, as far as the stretch goes.
void StageWriter::gather(const std::vector<Visit>& visits, Stretch stretch) {
  gather(visits[stretch.at], last_compute_);
  for (std::int32_t ahead = 0; ahead < plan_.prefetch; ++ahead) {
    stretch.at = next_unit(visits, stretch.at);
    if (stretch.at >= stretch.end) return;
    gather(visits[stretch.at], last_compute_);
  }
}

// Behind the visits of a lane that read what is gathered by now.
std::size_t StageWriter::about_to_need(const std::vector<Visit>& visits, const Lane& lane) const {
  if (lane.is_done()) return lane.at;
  std::size_t end = next_unit(visits, lane.at);
  for (std::int32_t ahead = 1; ahead < plan_.prefetch; ++ahead) end = next_unit(visits, end);
  return std::min(lane.end, end + (plan_.prefetch > 0 ? 1 : 0));
}

void StageWriter::gather(const Visit& visit, std::int32_t after) {
  for (const std::int32_t bucket : visit.gathered) {
    if (sim::at(held_, bucket) != kNobody) continue;
    Task task{.key = key(visit, visit.action.kind == ActionKind::Forward ? Phase::Forward : Phase::Backward, Operation::AllGather),
              .stream = Stream::Gather,
              .bucket = BucketIndex(bucket),
              .payload = gathered_bytes(plan_, sim::at(buckets_, bucket))};
    task.key.layer = visit.unit;
    task.key.group = MeshAxis::Reshard;
    task.key.sequence = bucket;
    if (plan_.offload_parameters) after = bring(task, after);
    sim::at(held_, bucket) = sim::at(buckets_, bucket).shards == 1 ? after
                             : sim::at(near_, bucket)              ? emit(task, {after})
                                                                   : gather(task, after);
    if (plan_.kept_until == KeptUntil::Backward) sim::at(near_, bucket) = false;
  }
}

// From the shards of all.
std::int32_t StageWriter::gather(const Task& task, std::int32_t after) {
  const std::int32_t reduced = plan_.cluster.software.unit_lists ? last_reduce_ : kNobody;  // the device is synchronised in front of it
  for (const WireStep& step : gather_steps(buckets_[task.bucket.position()], plan_))
    after = emit(of_step(task, step, buckets_.size()), {after, reduced});
  return after;
}

// The rank's shard, from the host.
std::int32_t StageWriter::bring(const Task& gather, std::int32_t after) {
  Task copy = gather;
  copy.key.operation = Operation::CopyToDevice;
  copy.key.group = MeshAxis::None;
  copy.key.sequence = gather.bucket.value() + 1;  // 0: a block's input
  copy.stream = Stream::ToDevice;
  copy.payload = gather.payload / std::int64_t{buckets_[gather.bucket.position()].shards};
  return emit(copy, {after});
}

// Frees what the visit needed, unless the next visit needs it too, or it stays from forward to backward.
void StageWriter::reshard(const std::vector<Visit>& visits, std::size_t at) {
  const bool ends_with_action = visits[at].action.kind == ActionKind::Backward && reshards_after_backward(plan_);
  std::span upcoming = std::span(visits).subspan(at + 1);
  if (!stays_gathered(plan_, visits[at].action.kind)) upcoming = upcoming.first(std::min<std::size_t>(1, upcoming.size()));
  if (ends_with_action) upcoming = {upcoming.begin(), std::ranges::find_if(upcoming, &Visit::opens)};
  reshard(visits[at], upcoming, {});
}

// Of two actions that run together: unless the other is at a layer that needs it, or is about to be. Behind both the next visit counts.
void StageWriter::reshard(const std::vector<Visit>& visits, const Lane& lane, const Lane& other) {
  const std::span all(visits);
  const std::size_t behind = std::max({lane.end, lane.end_of_weights, other.end, other.end_of_weights});
  const std::size_t next = lane.at + 1 < lane.end ? lane.at + 1 : behind;
  const bool counts = next < visits.size() && (next < lane.end || other.is_done());
  reshard(visits[lane.at], all.subspan(next, counts ? 1 : 0), all.subspan(other.at, about_to_need(visits, other) - other.at));
}

void StageWriter::reshard(const Visit& visit, std::span<const Visit> upcoming, std::span<const Visit> of_another) {
  const auto is_needed = [&](std::int32_t bucket) {
    const auto needs = [&](const Visit& one) { return std::ranges::find(one.gathered, bucket) != one.gathered.end(); };
    return std::ranges::any_of(upcoming, needs) || std::ranges::any_of(of_another, needs);
  };
  for (const std::int32_t bucket : visit.gathered) {
    if (is_needed(bucket)) continue;
    Task task{.key = key(visit, visit.action.kind == ActionKind::Forward ? Phase::Forward : Phase::Backward, Operation::Reshard),
              .bucket = BucketIndex(bucket)};
    task.key.layer = visit.unit;
    task.key.sequence = bucket;
    const bool begins = visit.action.kind == ActionKind::Forward || plan_.kept_until == KeptUntil::Step;
    if (begins && !sim::at(near_, bucket)) task.payload = kept_after_forward(plan_, sim::at(buckets_, bucket));
    emit(task, {});
    sim::at(held_, bucket) = kNobody;
    if (task.payload > Bytes(0)) sim::at(near_, bucket) = true;
  }
}

// `steps` virtual stages on: 1 where the output goes forward, -1 where it goes backward.
bool StageWriter::is_local(const Visit& visit, std::int32_t steps) const {
  return plan_.site(plan_.virtual_stage({stage_, visit.action.chunk}) + steps).stage == stage_;
}

// The task that made what the next chunk of this stage reads, by direction and piece.
std::int32_t& StageWriter::handed(const Visit& visit) {
  return handed_[visit.action.kind == ActionKind::Forward ? 0 : 1][plan_.piece_of(visit.action)];
}

// What goes forward is a layer's output; what goes back is the gradient of its input.
Task StageWriter::transfer(const Visit& visit, Operation operation) const {
  const bool is_output = (visit.action.kind == ActionKind::Forward) == (operation == Operation::Send);
  const LayerRange range = plan_.layers(stage_, visit.action.chunk);  // of none: it hands on what it receives
  Task task{.key = key(visit, visit.action.kind == ActionKind::Forward ? Phase::Forward : Phase::Backward, operation),
            .stream = operation == Operation::Send ? Stream::Send : Stream::Receive,
            .payload = stream_bytes(before(is_output ? range.end : range.begin))};
  task.key.group = MeshAxis::Pipeline;
  if (source_.leave_out(StageIndex(stage_.value() - (is_output ? 0 : 1)))) task.payload = task.payload - source_.rows;
  return task;
}

Task StageWriter::transfer_of_source(const Visit& visit, Operation operation, StageIndex reader) const {
  Task task = transfer(visit, operation);
  task.payload = source_.rows;
  task.key.sequence = reader.value();
  return task;
}

// Beside a message of a neighbour; farther readers' gradients come first.
void StageWriter::move_source(const Visit& visit, Operation operation) {
  const bool forward = visit.action.kind == ActionKind::Forward, from_encoder = forward == (operation == Operation::Send);
  const std::int32_t after = operation == Operation::Send ? chain_ : kNobody;
  if (!from_encoder && source_.reach(stage_)) emit(transfer_of_source(visit, operation, stage_), {after});
  if (!from_encoder || source_.from != stage_) return;
  std::vector<StageIndex> readers = source_.readers;
  if (!forward) std::ranges::reverse(readers);
  for (const StageIndex reader : readers) emit(transfer_of_source(visit, operation, reader), {after});
}

// Whether the output of a chunk's last layer, or what its first one reads, has a gradient.
bool StageWriter::has_gradient(const Visit& visit, bool of_output) const {
  const LayerRange range = plan_.layers(stage_, visit.action.chunk);
  return model_.goes_back(before(of_output ? range.end : range.begin));
}

void StageWriter::receive(const Visit& visit) {
  const bool forward = visit.action.kind == ActionKind::Forward;
  chain_ = kNobody;
  if (visit.action.kind == ActionKind::Weight) return;
  if (plan_.virtual_stage({stage_, visit.action.chunk}) == (forward ? 0 : plan_.num_virtual_stages() - 1)) return;
  if (!forward && !has_gradient(visit, /*of_output=*/true)) return;
  move_source(visit, Operation::Receive);
  chain_ = is_local(visit, forward ? -1 : 1) ? handed(visit) : emit(transfer(visit, Operation::Receive), {});
}

void StageWriter::send(const Visit& visit) {
  const bool forward = visit.action.kind == ActionKind::Forward;
  if (visit.action.kind == ActionKind::Weight) return;
  if (plan_.virtual_stage({stage_, visit.action.chunk}) == (forward ? plan_.num_virtual_stages() - 1 : 0)) return;
  if (!forward && !has_gradient(visit, /*of_output=*/false)) return;
  if (is_local(visit, forward ? 1 : -1))
    handed(visit) = chain_;
  else
    emit(transfer(visit, Operation::Send), {chain_});
  move_source(visit, Operation::Send);
}

void StageWriter::run(const Visit& visit, Phase phase, const Piece& piece, Beside& beside) {
  Task task{.key = key(visit, phase, piece.operation), .payload = piece.payload};
  task.key.sequence = piece.sequence;
  task.key.group = piece.group;
  if (piece.group != MeshAxis::None) task.stream = piece.group == MeshAxis::Tensor ? Stream::Tensor : Stream::Exchange;
  const std::int32_t id = emit(task, {chain_, beside.chain});
  if (piece.within) last_compute_ = id;
  if (piece.beside_next) {
    beside.task = id;
  } else {
    chain_ = id;
    beside.chain = std::exchange(beside.task, kNobody);
  }
}

void StageWriter::run(const Visit& visit, Phase phase, const std::vector<Piece>& pieces) {
  Beside beside;
  for (std::size_t at = 0; at < pieces.size(); ++at) run(visit, phase, pieces, at, beside);
}

// One of a list, with what waits on the host of its segment.
void StageWriter::run(const Visit& visit, Phase phase, const std::vector<Piece>& pieces, std::size_t at, Beside& beside) {
  const std::int32_t segment = pieces[at].parts.segment;
  const bool begins = at == 0 || pieces[at - 1].parts.segment != segment,
             ends = at + 1 == pieces.size() || pieces[at + 1].parts.segment != segment;
  const bool reads = begins && !plan_.offload_modules.none() && (phase == Phase::Backward || phase == Phase::Recompute);
  const std::int32_t fetched = reads ? take_inputs(visit, segment) : kNobody;
  if (reads) fetch_ahead(visit, segment);
  if (fetched != kNobody) program_.edges.emplace_back(fetched, static_cast<std::int32_t>(program_.tasks.size()));
  run(visit, phase, pieces[at], beside);
  if (ends && phase == Phase::Forward) keep_inputs_of_modules(visit, segment);
}

// Recomputing need not wait for the gradient; a gather that it begins with comes when what was issued before is done.
void StageWriter::run_again(const Visit& visit) {
  const std::vector<Piece>& pieces = pieces_of(visit.layer).recompute;
  const bool begins_with_gather = pieces.front().group != MeshAxis::None;
  const std::int32_t gradient = std::exchange(chain_, begins_with_gather ? last_compute_ : kNobody);
  Visit each = visit;
  while (plan_.makes_input_again(each.layer, visit.action.microbatch)) each.layer = before(each.layer);
  for (; each.layer <= visit.layer; each.layer = after(each.layer)) run(each, Phase::Recompute, pieces_of(each.layer).recompute);
  if (gradient != kNobody && sim::at(program_.tasks, gradient).stream != Stream::Compute)
    program_.edges.emplace_back(gradient, static_cast<std::int32_t>(program_.tasks.size()));  // to the first backward task
}

bool StageWriter::is_last_stretch(const std::vector<Visit>& visits, const Lane& lane) const {
  for (std::size_t at = lane.at, piece = lane.piece; at < lane.end; ++at, piece = 0)
    for (const std::vector<Piece>& pieces = own_pieces(visits[at]); piece < pieces.size(); ++piece)
      if (ends_stretch(pieces, piece)) return false;
  return true;
}

void StageWriter::run_stretch(const std::vector<Visit>& visits, Lane& lane, const Lane& other) {
  std::swap(chain_, lane.chain);
  for (bool goes_on = true; goes_on && !lane.is_done();) {
    const Visit& visit = visits[lane.at];
    const bool begins = lane.piece == 0;
    const std::vector<Piece>& pieces = own_pieces(visit);
    if (begins && visit.opens) receive(visit);
    if (begins) gather(visits, {lane.at, lane.end});
    const std::size_t first = program_.tasks.size();
    if (begins && visit.action.kind == ActionKind::Backward && runs_again(visit)) run_again(visit);
    while (goes_on && lane.piece < pieces.size()) {
      goes_on = !ends_stretch(pieces, lane.piece);
      run(visit, phase_of(visit.action.kind), pieces, lane.piece++, lane.beside);
    }
    for (const std::int32_t bucket : visit.gathered)
      if (begins) program_.edges.emplace_back(sim::at(held_, bucket), static_cast<std::int32_t>(first));
    if (lane.piece < pieces.size()) break;
    if (visit.closes) send(visit);
    reshard(visits, lane, other);
    reduce_ready(visit);
    ++lane.at;
    lane.piece = 0;
    lane.beside = {};
  }
  run_weights(visits, lane);
  std::swap(chain_, lane.chain);
}

// Of a block behind the piece of the same name, if there is one: what stands around experts (a router, shared ones) has its own with its backward. Else
// behind all of its segment. Of the head's layer behind all of it.
bool StageWriter::may_run_weights(const std::vector<Visit>& visits, const Lane& lane) const {
  const std::size_t backward = lane.at_backward_of_weights();
  if (backward != lane.at || visits[backward].layer == model_.head()) return backward < lane.at;
  const std::vector<Piece>&pieces = own_pieces(visits[backward]), &weights = own_pieces(visits[lane.weights.at]);
  const Piece& wanted = weights[lane.weights.piece];
  const auto is_same = [&](const Piece& one) { return one.operation == wanted.operation && one.group == MeshAxis::None; };
  const auto is_within = [&](const Piece& one) { return one.parts.segment == wanted.parts.segment; };
  const auto left = pieces.begin() + static_cast<std::ptrdiff_t>(lane.piece);
  const bool has_same = std::any_of(pieces.begin(), pieces.end(), is_same);
  return has_same ? std::none_of(left, pieces.end(), is_same) : std::none_of(left, pieces.end(), is_within);
}

// Beside the exchange that has just been issued, or what was sent on.
void StageWriter::run_weights(const std::vector<Visit>& visits, Lane& lane) {
  const std::int32_t chain = std::exchange(chain_, kNobody);
  for (; lane.weights.at < lane.end_of_weights; lane.weights = {.at = lane.weights.at + 1}) {
    const Visit& visit = visits[lane.weights.at];
    const std::vector<Piece>& pieces = own_pieces(visit);
    Beside nothing;
    while (lane.weights.piece < pieces.size() && may_run_weights(visits, lane))
      run(visit, Phase::Weight, pieces, lane.weights.piece++, nothing), chain_ = kNobody;
    if (lane.at_backward_of_weights() >= lane.at) break;
    reduce_ready(visit);
  }
  chain_ = chain;
}

// The visits of its weights, which are its last ones, by a cursor of their own.
StageWriter::Lane StageWriter::with_weights(const std::vector<Visit>& visits, Lane backward) const {
  if (!plan_.delay_wgrad) return backward;
  backward.end_of_weights = backward.end;
  while (visits[backward.end - 1].action.kind == ActionKind::Weight) --backward.end;
  backward.weights = {.at = backward.end};
  return backward;
}

// While one exchanges tokens the other computes (Megatron-Core's combined 1F1B; DualPipe, DeepSeek-V3). The forward ends last.
//
//   compute    B head | F attention |  B experts  | F experts | B attention | ...
//   exchange          | B combine   |  F dispatch | B dispatch| F combine   |
//
// With delay_wgrad B is that of the input, and the gradients of weights come behind the exchange that ends the stretch (W experts behind B dispatch).
void StageWriter::write_pair(const std::vector<Visit>& visits, Lane backward, Lane forward) {
  while (!backward.is_done() || !forward.is_done()) {
    if (!backward.is_done()) run_stretch(visits, backward, forward);
    if (backward.is_done() || !is_last_stretch(visits, forward)) run_stretch(visits, forward, backward);
  }
}

void StageWriter::write_visit(const std::vector<Visit>& visits, std::size_t at) {
  const Visit& visit = visits[at];
  gather_ahead(visit);
  if (visit.opens) receive(visit);
  if (!visit.layer.exists()) return send(visit);
  gather(visits, {at, visits.size()});
  const std::vector<std::int32_t> renewed = await_new_weights(visit);
  fetch(visit);
  if (plan_.prefetch > 0 && at + 1 < visits.size()) fetch(visits[at + 1]);
  const std::size_t first = program_.tasks.size();
  note_readers(visit, static_cast<std::int32_t>(first));
  if (visit.action.kind == ActionKind::Backward && runs_again(visit)) run_again(visit);
  run(visit, phase_of(visit.action.kind), own_pieces(visit));
  for (const std::int32_t bucket : visit.gathered) program_.edges.emplace_back(sim::at(held_, bucket), static_cast<std::int32_t>(first));
  for (const std::int32_t weights : renewed)
    if (sim::at(program_.tasks, weights).stream != Stream::Compute) program_.edges.emplace_back(weights, static_cast<std::int32_t>(first));
  if (visit.action.kind == ActionKind::Forward && has_input_on_host(visit)) keep_on_host(visit, 0, stream_bytes(before(visit.layer)));
  if (visit.action.kind == ActionKind::Backward && has_input_on_host(visit))
    program_.edges.emplace_back(take_inputs(visit, 0), static_cast<std::int32_t>(first));
  if (visit.closes) send(visit);
  reshard(visits, at);
  reduce_ready(visit);
}

// A backward with the gradients of its weights, if those are written right behind it, and the forward behind: where each ends. None: it runs alone,
// piece behind piece; with delay_wgrad in stretches all the same.
std::optional<std::pair<std::size_t, std::size_t>> StageWriter::pair_at(const std::vector<Visit>& visits, std::size_t at) const {
  const auto end_of_action = [&](std::size_t first) {
    while (!visits[first].closes) ++first;
    return first + 1;
  };
  const auto is = [&](std::size_t first, ActionKind kind) {
    return first < visits.size() && visits[first].action.kind == kind && visits[first].layer.exists();
  };
  if (!plan_.expert_overlap || !is(at, ActionKind::Backward)) return std::nullopt;
  const StageAction backward = visits[at].action;
  std::size_t middle = end_of_action(at);
  if (is(middle, ActionKind::Weight) && visits[middle].action.microbatch == backward.microbatch &&
      visits[middle].action.chunk == backward.chunk)
    middle = end_of_action(middle);
  if (is(middle, ActionKind::Forward)) return std::pair{middle, end_of_action(middle)};
  return plan_.delay_wgrad ? std::optional(std::pair{middle, middle}) : std::nullopt;
}

StageProgram StageWriter::write() && {
  const std::vector<Visit> all = visits();
  if (!plan_.offload_modules.none()) next_backwards_.emplace(plan_, stage_);
  find_new_weights(all);
  program_.tasks.reserve(all.size() * (pieces_of(LayerIndex(1)).backward.size() + pieces_of(LayerIndex(1)).recompute.size() + 2));
  program_.edges.reserve(program_.tasks.capacity() / 2);
  for (std::size_t at = 0; at < all.size();) {
    if (all[at].action.kind == ActionKind::Backward) validate();
    if (const auto pair = pair_at(all, at)) {
      write_pair(all, with_weights(all, {.at = at, .end = pair->first}), {.at = pair->first, .end = pair->second});
      at = pair->second;
    } else {
      write_visit(all, at++);
    }
  }
  write_delayed_weights();
  finish_gradients();
  step();
  return std::move(program_);
}

StageProgram make_stage_program(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage, const std::vector<Bucket>& buckets) {
  return StageWriter(model, plan, stage, buckets).write();
}
}  // namespace sim
