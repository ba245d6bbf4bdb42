#include "sim/task_graph/layer_tasks.h"

#include <algorithm>

#include "sim/task_graph/context_tasks.h"

namespace sim {
namespace {

using Pieces = std::vector<Piece>;

struct Sizes {
  bool tensor;  // T > 1
  bool sequence_parallel;
  Bytes hidden;      // [tokens, hidden] of one microbatch
  Bytes statistics;  // one number a token, at least fp32
};

Sizes sizes(const ModelGraph& model, const ParallelPlan& plan) {
  const std::int64_t tokens = plan.shard_shape().tokens();
  const Bytes element = plan.bytes(Numbers::Activations);
  return {.tensor = plan.mesh.tensor > 1,
          .sequence_parallel = plan.sequence_parallel,
          .hidden = element * (tokens * model.config.hidden),
          .statistics = std::max(element, Bytes(4)) * tokens};
}

// One segment of a block: its operations, and the sequence number of its first communication.
struct SegmentNames {
  Operation norm, core, residual;
};
constexpr SegmentNames kAttention{Operation::AttentionNorm, Operation::Attention, Operation::AttentionResidual};
constexpr SegmentNames kMlp{Operation::MlpNorm, Operation::Mlp, Operation::MlpResidual};

Piece over_tensor(Operation operation, std::int32_t sequence, Bytes payload) { return {operation, sequence, payload, MeshAxis::Tensor}; }

void add_segment_forward(Pieces& pieces, const Sizes& size, const SegmentNames& names, std::int32_t sequence) {
  if (size.sequence_parallel) {
    pieces.push_back({names.norm});
    pieces.push_back(over_tensor(Operation::AllGather, sequence, size.hidden));
  }
  pieces.push_back({names.core});
  if (!size.tensor) return;
  pieces.push_back(over_tensor(size.sequence_parallel ? Operation::ReduceScatter : Operation::AllReduce, sequence, size.hidden));
  pieces.push_back({names.residual});
}

void add_segment_backward(Pieces& pieces, const Sizes& size, const SegmentNames& names, std::int32_t sequence) {
  if (size.sequence_parallel) {
    pieces.push_back({names.residual});
    pieces.push_back(over_tensor(Operation::AllGather, sequence, size.hidden));
  }
  pieces.push_back({names.core});
  if (!size.tensor) return;
  pieces.push_back(over_tensor(size.sequence_parallel ? Operation::ReduceScatter : Operation::AllReduce, sequence, size.hidden));
  pieces.push_back({names.norm});
}

// Rows of tokens for the experts of each rank, and back. The payload is that of a rank's own tokens, which does not depend on where they go;
// with dropping the most that it can be. Tensor ranks exchange the same rows: all of them compute with each.
Pieces expert_pieces(const ParallelPlan& plan, Phase phase) {
  const RoutedTokens tokens{plan.shard_shape().tokens()};
  const Bytes rows = plan.bytes(Numbers::Activations) * (rows_to_experts(*plan.model.experts, tokens) * plan.model.hidden);
  const auto exchange = [&](std::int32_t sequence) { return Piece{Operation::AllToAll, sequence, rows, MeshAxis::Expert}; };
  const bool backward = phase == Phase::Backward;
  const Operation first = backward ? Operation::ExpertOutput : Operation::ExpertInput,
                  last = backward ? Operation::ExpertInput : Operation::ExpertOutput;
  if (plan.mesh.expert == 1) return {{first}, {Operation::Experts}, {last}};
  return {{first}, exchange(0), {Operation::Experts}, exchange(1), {last}};
}

Pieces with_experts(Pieces pieces, const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer, Phase phase) {
  if (!model.has(layer, Segment::Experts)) return pieces;
  const auto whole = std::find_if(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.operation == Operation::Mlp; });
  const Pieces parts = expert_pieces(plan, phase);
  pieces.insert(pieces.erase(whole), parts.begin(), parts.end());
  return pieces;
}

Pieces embedding_forward(const Sizes& size) {
  if (!size.tensor) return {{Operation::Embedding}};
  const Operation sum = size.sequence_parallel ? Operation::ReduceScatter : Operation::AllReduce;
  return {{Operation::Embedding}, over_tensor(sum, 0, size.hidden), {Operation::EmbeddingPositions}};
}

// A vocabulary-parallel loss: the maximum, then the sum of exponentials and the target's logit, cross the tensor group.
Pieces head_forward(const Sizes& size) {
  Pieces pieces;
  if (size.sequence_parallel) pieces = {{Operation::HeadNorm}, over_tensor(Operation::AllGather, 0, size.hidden)};
  pieces.push_back({Operation::Head});
  if (!size.tensor) return pieces;
  pieces.push_back(over_tensor(Operation::AllReduce, 0, size.statistics));
  pieces.push_back({Operation::HeadExponentials});
  pieces.push_back(over_tensor(Operation::AllReduce, 1, size.statistics * 2));
  pieces.push_back({Operation::HeadLoss});
  return pieces;
}

Pieces head_backward(const Sizes& size) {
  if (!size.tensor) return {{Operation::Head}};
  const Operation sum = size.sequence_parallel ? Operation::ReduceScatter : Operation::AllReduce;
  return {{Operation::Head}, over_tensor(sum, 0, size.hidden), {Operation::HeadNorm}};
}

Pieces embedding_backward(const Sizes& size) {
  if (!size.sequence_parallel) return {{Operation::Embedding}};
  return {{Operation::EmbeddingPositions}, over_tensor(Operation::AllGather, 0, size.hidden), {Operation::Embedding}};
}

}  // namespace

std::vector<Piece> forward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  const Sizes size = sizes(model, plan);
  if (layer == LayerIndex(0)) return embedding_forward(size);
  if (layer == model.head()) return head_forward(size);
  Pieces pieces;
  add_segment_forward(pieces, size, kAttention, 0);
  add_segment_forward(pieces, size, kMlp, 1);
  return with_context(with_experts(std::move(pieces), model, plan, layer, Phase::Forward), plan, Phase::Forward);
}

std::vector<Piece> backward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  const Sizes size = sizes(model, plan);
  if (layer == LayerIndex(0)) return embedding_backward(size);
  if (layer == model.head()) return head_backward(size);
  Pieces pieces;
  add_segment_backward(pieces, size, kMlp, 0);
  add_segment_backward(pieces, size, kAttention, 1);
  return with_context(with_experts(std::move(pieces), model, plan, layer, Phase::Backward), plan, Phase::Backward);
}

std::vector<Piece> weight_pieces(const ModelGraph& model, LayerIndex layer) {
  if (layer == LayerIndex(0)) return {};
  if (layer == model.head()) return {{Operation::Head}};
  return {{model.has(layer, Segment::Experts) ? Operation::Experts : Operation::Mlp}, {Operation::Attention}};
}

std::vector<Piece> recompute_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  Pieces pieces = forward_pieces(model, plan, layer);
  const auto is_last = [&](const Piece& piece) {
    return piece.operation == Operation::Mlp ||
           (plan.mesh.expert > 1 ? piece.group == MeshAxis::Expert && piece.sequence == 1 : piece.operation == Operation::Experts);
  };
  const auto last_core = std::find_if(pieces.begin(), pieces.end(), is_last);
  pieces.erase(std::next(last_core), pieces.end());
  return pieces;
}

}  // namespace sim
