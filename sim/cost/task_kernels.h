// Which kernels a compute task runs: those of the operators in the parts of its segment that it joins (sim/task_graph/layer_tasks.h), with the shapes
// of one rank.
#pragma once

#include <vector>

#include "sim/cost/document_load.h"
#include "sim/cost/kernel_prices.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/task_graph/task.h"

namespace sim {

struct TaskKernels {
  std::vector<KernelCall> calls;
  CallKind kind = CallKind::Forward;
  Operation segment{};  // that they are of, by its name
};

// Tasks of the phases Forward, Recompute, Backward and Weight.
struct LayerTask {
  LayerIndex layer;
  Phase phase{};
  Operation operation{};
  AttentionWork attention{};  // where rows hold documents
  SliceIndex slice{};         // of a sample that passes in several; none: what they take in the mean
  MicrobatchIndex microbatch{};
};
TaskKernels kernels_of(const ModelGraph& model, const ParallelPlan& plan, const LayerTask& task);
// pieces: of its layer and phase, for whoever asks for many of its tasks.
TaskKernels kernels_of(const ModelGraph& model, const ParallelPlan& plan, const LayerTask& task, const std::vector<Piece>& pieces);

// Weight gradients of the products whose input's gradient tensor ranks sum or scatter by that task of a backward; none of another exchange.
TaskKernels weight_gradients_beside(const ModelGraph& model, const ParallelPlan& plan, const TaskKey& exchange,
                                    const std::vector<Piece>& pieces);

// Tasks on flat buffers: Accumulate, NormPart, Update.
struct Elements {
  std::int64_t value = 0;
  double orthogonalized = 0;  // flops of the Newton-Schulz steps of Muon, on the rank's share of whole matrices
};
TaskKernels flat_kernels(const ParallelPlan& plan, Operation operation, Elements elements);

}  // namespace sim
