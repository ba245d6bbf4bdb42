#include "sim/task_graph/layer_tasks.h"

#include "sim/plan/repeated_blocks.h"
#include "sim/plan/scaled_products.h"
#include "sim/task_graph/meetings.h"
#include "sim/units/at.h"

namespace sim {
namespace {

using Pieces = std::vector<Piece>;

// Among equal ones.
Pieces numbered(Pieces pieces) {
  for (auto piece = pieces.begin(); piece != pieces.end(); ++piece)
    piece->sequence = static_cast<std::int32_t>(std::count_if(
        pieces.begin(), piece, [&](const Piece& one) { return one.operation == piece->operation && one.group == piece->group; }));
  return pieces;
}

// Walks a layer's segments in one direction and cuts them into pieces.
class Pass {
 public:
  Pass(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer, Direction direction)
      : layer_(model.layer(layer)),
        plan_(plan),
        direction_(direction),
        activation_(plan.bytes(Numbers::Activations, layer)),
        asks_(asks_within_computations(plan) && !plan.is_unscaled(layer)) {}

  Pieces pieces() && {
    const auto count = static_cast<std::int32_t>(layer_.segments.size());
    for (std::int32_t at = 0; at < count; ++at) add_segment(is_backward() ? count - 1 - at : at);
    return numbered(std::move(pieces_));
  }

 private:
  bool is_backward() const { return direction_ == Direction::Backward; }
  const SegmentGraph& segment() const { return sim::at(layer_.segments, at_); }
  const Meets& meets(std::int32_t before) const { return sim::at(segment().meets, before); }

  void add_segment(std::int32_t at) {
    at_ = at;
    const auto count = static_cast<std::int32_t>(segment().parts.size());
    std::int32_t begun = is_backward() ? count : 0;  // where the piece that is not closed yet begins
    for (std::int32_t passed = 1; passed < count; ++passed) {
      const std::int32_t between = is_backward() ? count - passed : passed;  // parts in front of the boundary, in the order of a forward
      if (!is_cut(meets(between - 1), plan_, direction_)) continue;
      close(begun, between);
      for (Piece one : exchanges(meets(between - 1), plan_, direction_, activation_)) {
        one.parts = {at_, between - 1, between + 1};
        pieces_.push_back(one);
      }
      begun = between;
    }
    close(begun, is_backward() ? 0 : count);
  }

  void close(std::int32_t from, std::int32_t to) {
    const Parts parts{at_, std::min(from, to), std::max(from, to)};
    const Piece piece{.operation = name_of(parts), .parts = parts};
    if (parts.first == 0 || !runs_in_rounds(meets(parts.first - 1), plan_) || meets(parts.first - 1).meeting != Meeting::Enter)
      return add_computation(piece);
    for (Piece one : rounds(piece, meets(parts.first - 1), plan_, direction_, activation_)) {
      one.parts = parts;
      pieces_.push_back(one);
    }
  }

  void add_computation(const Piece& piece) {
    pieces_.push_back(piece);
    if (!asks_) return;
    const auto ask = [&](const Operator& op) {
      if (op.kind != OperatorKind::Linear || !piece.parts.has(op.part)) return;
      for (Piece asked : asked_within(op, plan_, direction_, activation_)) {
        asked.parts = piece.parts;
        pieces_.push_back(asked);
      }
    };
    const std::vector<Operator>& operators = segment().operators;
    is_backward() ? std::for_each(operators.rbegin(), operators.rend(), ask) : std::for_each(operators.begin(), operators.end(), ask);
  }

  Operation name_of(const Parts& parts) const {
    const auto all = std::span(segment().parts).subspan(count_of(parts.first), count_of(parts.last - parts.first));
    const auto is_core = [](const SegmentPart& part) { return !part.is_side; };
    if (std::ranges::count_if(all, is_core) > 1) return segment().name;
    const auto core = std::ranges::find_if(all, is_core);
    return core == all.end() ? all.front().name : core->name;
  }

  const Layer& layer_;
  const ParallelPlan& plan_;
  Direction direction_;
  Bytes activation_;  // of a number
  bool asks_;         // other ranks, within computations
  std::int32_t at_ = 0;
  Pieces pieces_;
};

const SegmentGraph& segment_of(const Layer& layer, const Piece& piece) { return sim::at(layer.segments, piece.parts.segment); }

Pieces up_to_backward(Pieces pieces, const Layer& layer) {
  const auto feeds_backward = [&](const Piece& piece) {
    if (piece.group != MeshAxis::None)  // rows that come back are read again
      return piece.group == MeshAxis::Expert || piece.group == MeshAxis::ExpertTensor || piece.within;
    const std::vector<SegmentPart>& parts = segment_of(layer, piece).parts;
    return std::any_of(parts.begin() + piece.parts.first, parts.begin() + piece.parts.last,
                       [](const SegmentPart& part) { return part.feeds_backward; });
  };
  while (!pieces.empty() && !feeds_backward(pieces.back())) pieces.pop_back();
  return pieces;
}

// Cores alone: what their norms put out is kept.
Pieces of_modules(const Pieces& pieces, const Layer& layer, Modules modules) {
  Pieces found;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(layer.segments.size()); ++at) {
    const SegmentGraph& segment = sim::at(layer.segments, at);
    if (!segment.modules.meets(modules)) continue;
    Pieces core;
    for (Piece piece : pieces) {
      if (piece.parts.segment != at) continue;
      const bool is_exchange = piece.group != MeshAxis::None;
      if (!is_exchange)
        piece.parts = {at, std::max(piece.parts.first, segment.first_core()), std::min(piece.parts.last, segment.last_core() + 1)};
      if (is_exchange || piece.parts.first < piece.parts.last) core.push_back(piece);
    }
    for (const Piece& piece : up_to_backward(std::move(core), layer)) found.push_back(piece);
  }
  return numbered(std::move(found));
}

}  // namespace

Ends ends_of(const ModelGraph& model, LayerIndex layer, const Parts& parts) {
  const std::vector<SegmentGraph>& segments = model.layer(layer).segments;
  const bool is_last = std::cmp_equal(parts.segment + 1, segments.size());
  return {.reads = layer != LayerIndex(0) && parts.segment == 0 && parts.first == 0,
          .hands_on = layer != model.head() && is_last && std::cmp_equal(parts.last, sim::at(segments, parts.segment).parts.size())};
}

std::vector<Piece> forward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  return Pass(model, plan, layer, Direction::Forward).pieces();
}

std::vector<Piece> backward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  if (!model.goes_back(layer)) return {};
  return Pass(model, plan, layer, Direction::Backward).pieces();
}

std::vector<Piece> weight_pieces(const ModelGraph& model, LayerIndex layer) {
  Pieces pieces;
  if (!model.goes_back(layer)) return pieces;
  const std::vector<SegmentGraph>& segments = model.layer(layer).segments;
  for (auto at = static_cast<std::int32_t>(segments.size()) - 1; at >= 0; --at) {
    const SegmentGraph& segment = sim::at(segments, at);
    if (segment.starts_with_side())
      pieces.push_back({.operation = segment.name, .parts = {at, 0, static_cast<std::int32_t>(segment.parts.size())}});
  }
  return numbered(std::move(pieces));
}

std::vector<Piece> recompute_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  const bool is_block = layer != LayerIndex(0) && layer != model.head() && model.goes_back(layer);
  if (!is_block || (plan.recompute != Recompute::Full && plan.recomputed_modules().none())) return {};
  Pieces pieces = forward_pieces(model, plan, layer);
  if (plan.recompute != Recompute::Full) return of_modules(pieces, model.layer(layer), plan.recomputed_modules());
  return repeats_to_end(plan) ? pieces : up_to_backward(std::move(pieces), model.layer(layer));
}

bool ends_recompute(const std::vector<Piece>& recomputed, bool is_by_module, Operation operation) {
  const auto piece =
      std::ranges::find_if(recomputed, [&](const Piece& one) { return one.group == MeshAxis::None && one.operation == operation; });
  if (piece == recomputed.end()) return false;
  const auto next = std::find_if(piece + 1, recomputed.end(), [](const Piece& one) { return !one.within; });
  return next == recomputed.end() || (is_by_module && next->parts.segment != piece->parts.segment);
}

std::vector<Piece> pieces_of(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer, Phase phase) {
  switch (phase) {
    case Phase::Backward: return backward_pieces(model, plan, layer);
    case Phase::Weight: return weight_pieces(model, layer);
    case Phase::Recompute: return recompute_pieces(model, plan, layer);
    default: return forward_pieces(model, plan, layer);
  }
}

std::optional<Piece> piece_among(const std::vector<Piece>& pieces, const TaskKey& exchange) {
  const auto piece = std::ranges::find_if(pieces, [&](const Piece& one) {
    return one.operation == exchange.operation && one.group == exchange.group && one.sequence == exchange.sequence && !one.within;
  });
  return piece == pieces.end() ? std::nullopt : std::optional(*piece);
}

Bytes handed_on(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  if (model.config.convolution) return plan.bytes(Numbers::Activations) * (plan.shard_shape().tokens() * model.layer(layer).handed_on);
  return plan.message_into(LayerIndex(layer.value() + 1));
}

Parts parts_of(const std::vector<Piece>& pieces, Operation operation, std::int32_t sequence) {
  const auto is_it = [&](const Piece& piece) {
    return piece.operation == operation && piece.group == MeshAxis::None && piece.sequence == sequence;
  };
  return std::ranges::find_if(pieces, is_it)->parts;
}

}  // namespace sim
