// What waits on the host for a backward: inputs of recomputed blocks, or of modules, segment by segment.
#include "sim/task_graph/stage_writer.h"

namespace sim {

// What is read leaves when its forward has read it.
void StageWriter::keep_on_host(const Visit& visit, std::int32_t segment, Bytes payload) {
  Task copy{.key = key(visit, Phase::Forward, Operation::CopyToHost), .stream = Stream::ToHost, .payload = payload};
  copy.key.sequence = segment;
  StageAction backward = visit.action;
  backward.kind = ActionKind::Backward;
  inputs_[{visit.layer, visit.action.microbatch, segment}] = {
      .action = backward, .payload = payload, .copied = emit(copy, {last_compute_})};
}

void StageWriter::keep_inputs_of_modules(const Visit& visit, std::int32_t segment) {
  const LayerPieces& pieces = pieces_of(visit.layer);
  if (pieces.on_host.empty() || pieces.backward.empty() || !plan_.sends_modules(visit.layer)) return;
  if (next_backwards_->keeps(plan_, visit.action.chunk, visit.action.microbatch, visit.layer)) return;
  if (const Bytes payload = sim::at(pieces.on_host, segment); payload > Bytes{}) keep_on_host(visit, segment, payload);
}

void StageWriter::fetch(const InputPlace& place, std::int32_t after) {
  const auto found = inputs_.find(place);
  if (found == inputs_.end() || found->second.fetched != kNobody) return;
  Input& input = found->second;
  const auto& [layer, microbatch, segment] = place;
  Task copy{.key = key({.action = input.action, .layer = layer, .unit = layer, .gathered = {}}, Phase::Backward, Operation::CopyToDevice),
            .stream = Stream::ToDevice,
            .payload = input.payload};
  copy.key.sequence = segment;
  input.fetched = emit(copy, {input.copied, after});
}

// Of a recomputed block: beside the backward before its own.
void StageWriter::fetch(const Visit& visit) {
  if (plan_.offload_activations && visit.action.kind == ActionKind::Backward)
    fetch({visit.layer, visit.action.microbatch, 0}, last_compute_);
}

// In the order of a backward, behind that segment of a layer; none: nothing of the action is left on the host.
std::optional<StageWriter::InputPlace> StageWriter::next_input(const StageAction& action, LayerIndex layer, std::int32_t segment) const {
  const LayerIndex begin = plan_.layers(stage_, action.chunk).begin;
  for (; layer.exists() && layer >= begin; layer = before(layer), segment = layer.exists() ? num_segments(layer) : 0)
    while (--segment >= 0)
      if (inputs_.contains({layer, action.microbatch, segment})) return InputPlace{layer, action.microbatch, segment};
  return std::nullopt;
}

// For a segment that begins to go backward, or to be made again for that: the task that it waits for.
std::int32_t StageWriter::take_inputs(const Visit& visit, std::int32_t segment) {
  const auto own = inputs_.find({visit.layer, visit.action.microbatch, segment});
  if (own == inputs_.end()) return kNobody;
  fetch(own->first, last_compute_);
  const std::int32_t fetched = own->second.fetched;
  inputs_.erase(own);
  return fetched;
}

// Those of the segment that goes backward next: of the action, else of the one behind it.
void StageWriter::fetch_ahead(const Visit& visit, std::int32_t segment) {
  if (plan_.prefetch == 0) return;
  std::optional<InputPlace> next = next_input(visit.action, visit.layer, segment);
  if (const std::optional<StageAction> behind = next_backwards_->behind(visit.action); !next && behind) {
    const LayerIndex last = before(plan_.layers(stage_, behind->chunk).end);
    next = next_input(*behind, last, last.exists() ? num_segments(last) : 0);
  }
  if (next) fetch(*next, last_compute_);
}

}  // namespace sim
