#include "sim/task_graph/context_tasks.h"

namespace sim {
namespace {

// One rank's tensors between its projections and attention.
struct AttentionBytes {
  Bytes query, output, block;  // block: keys and values
};

AttentionBytes attention_bytes(const ParallelPlan& plan) {
  const AttentionWidths widths = attention_widths(plan.model);
  const Bytes column = plan.bytes(Numbers::Activations) * plan.shard_shape().tokens();
  const std::int64_t tensor = plan.mesh.tensor;
  return {.query = column * (widths.query / tensor),
          .output = column * (widths.output / tensor),
          .block = column * ((widths.key + widths.value) / tensor)};
}

Piece over_context(Operation operation, std::int32_t sequence, Bytes payload) { return {operation, sequence, payload, MeshAxis::Context}; }

// Step i computes on the block that hop i - 1 brought; in the backward the block's gradients follow it, and go one hop further.
std::vector<Piece> ring_steps(std::int32_t ranks, Bytes block, Phase phase) {
  std::vector<Piece> pieces;
  const bool backward = phase == Phase::Backward;
  for (std::int32_t step = 0; step < ranks; ++step) {
    const Bytes onward = step + 1 < ranks ? block : Bytes{}, gradients = backward && step > 0 ? block : Bytes{};
    Piece hop = over_context(Operation::RingHop, step, onward + gradients);
    hop.beside_next = true;
    if (hop.payload.value() > 0) pieces.push_back(hop);
    pieces.push_back({Operation::AttentionScores, step});
  }
  if (backward) pieces.push_back(over_context(Operation::RingHop, ranks, block));
  return pieces;
}

std::vector<Piece> scores(const ParallelPlan& plan, Phase phase) {
  const AttentionBytes bytes = attention_bytes(plan);
  const bool backward = phase == Phase::Backward;
  const std::int64_t ranks = plan.mesh.context;
  if (plan.context_algorithm == ContextAlgorithm::Ring) return ring_steps(plan.mesh.context, bytes.block, phase);
  if (plan.context_algorithm == ContextAlgorithm::AllToAll)
    return {over_context(Operation::AllToAll, 0, backward ? bytes.output : bytes.query + bytes.block),
            {Operation::AttentionScores},
            over_context(Operation::AllToAll, 1, backward ? bytes.query + bytes.block : bytes.output)};
  std::vector<Piece> pieces{over_context(Operation::AllGather, 0, bytes.block * ranks), {Operation::AttentionScores}};
  if (backward) pieces.push_back(over_context(Operation::ReduceScatter, 0, bytes.block * ranks));
  return pieces;
}

}  // namespace

std::vector<Piece> with_context(std::vector<Piece> pieces, const ParallelPlan& plan, Phase phase) {
  if (plan.mesh.context == 1) return pieces;
  const bool backward = phase == Phase::Backward;
  std::vector<Piece> parts = scores(plan, phase);
  parts.insert(parts.begin(), Piece{backward ? Operation::AttentionOutput : Operation::AttentionInput});
  parts.push_back({backward ? Operation::AttentionInput : Operation::AttentionOutput});
  const auto whole = std::find_if(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.operation == Operation::Attention; });
  const auto at = pieces.erase(whole);
  pieces.insert(at, parts.begin(), parts.end());
  return pieces;
}

}  // namespace sim
