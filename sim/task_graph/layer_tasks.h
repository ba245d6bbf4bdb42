// The pieces of one layer in one phase, between two cuts: a table in code, the only place that says what a layer's tasks are.
// Used by the stage program. Payloads are per tensor group (CollectiveShape's convention).
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

struct Piece {
  Operation operation{};
  std::int32_t sequence = 0;    // of a communication inside (layer, phase)
  Bytes payload{};              // of a communication along the tensor axis; zero for computation
};

//   T = 1     Attention   Mlp
//   T > 1     Attention   AllReduce 0   AttentionResidual   Mlp   AllReduce 1   MlpResidual
std::vector<Piece> forward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);
std::vector<Piece> backward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);
// The linear layers' weight gradients, of schedules that split the backward pass: all else is in Backward. None of the embedding.
std::vector<Piece> weight_pieces(const ModelGraph& model, LayerIndex layer);
// A block's forward again, up to what its backward needs: the sum after Mlp is left out.
std::vector<Piece> recompute_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);

}  // namespace sim
