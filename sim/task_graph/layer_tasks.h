// The pieces of one layer in one phase, between two cuts: a table in code, the only place that says what a layer's tasks are.
// Used by the stage program. Payloads are per tensor group (CollectiveShape's convention).
#pragma once

#include <algorithm>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

struct Piece {
  Operation operation{};
  std::int32_t sequence = 0;  // among equal ones inside (layer, phase)
  Bytes payload{};            // of a communication; zero for computation
  MeshAxis group = MeshAxis::None;
  bool beside_next = false;  // starts with the next piece; what follows waits for both
};

//   T = 1     Attention   Mlp
//   T > 1     Attention   AllReduce 0   AttentionResidual   Mlp   AllReduce 1   MlpResidual
//   experts   instead of Mlp: ExpertInput   AllToAll 0 (E > 1)   Experts   AllToAll 1   ExpertOutput
//   C > 1     instead of Attention: AttentionInput ... AttentionScores ... AttentionOutput (context_tasks.h)
std::vector<Piece> forward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);
std::vector<Piece> backward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);
// The linear layers' weight gradients, of schedules that split the backward pass: all else is in Backward. None of the embedding.
std::vector<Piece> weight_pieces(const ModelGraph& model, LayerIndex layer);
// A block's forward again, up to what its backward needs: the sum after Mlp is left out; of experts the rows that come back are in.
std::vector<Piece> recompute_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);

// One after the other, and of those side by side the longer one.
template <class Time, class TimeOf>
Time chain_time(const std::vector<Piece>& pieces, const TimeOf& time_of) {
  Time sum{}, beside{};
  for (const Piece& piece : pieces) {
    const Time time = std::max(beside, time_of(piece));
    beside = piece.beside_next ? time : Time{};
    if (!piece.beside_next) sum += time;
  }
  return sum;
}

}  // namespace sim
