// Which kernels a compute task runs, from the operators of its segment. The one place that knows how tensor parallelism cuts a segment:
//
//   operators of a block     residual norm | qkv (rotary) attention projection | (dropout)       the sum waits for the norm that reads it
//   T = 1                    [------------------- Attention -------------------------------]
//   T > 1, forward           [------------ Attention -------------------] [AttentionResidual]
//   T > 1, backward          [AttentionNorm] [------ Attention ----------------------------]
//   C > 1                    as above, but Attention is [AttentionInput] qkv (rotary), [AttentionScores], [AttentionOutput] projection
//   sequence parallel        [AttentionNorm] [--- Attention ------------] [AttentionResidual]    forward and backward
//
// Used by cost_model and lower_bound.
#pragma once

#include <vector>

#include "sim/cost/kernel_prices.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

struct TaskKernels {
  std::vector<KernelCall> calls;
  CallKind kind = CallKind::Forward;
};

// Tasks of the phases Forward, Recompute, Backward and Weight.
struct LayerTask {
  LayerIndex layer;
  Phase phase{};
  Operation operation{};
};
TaskKernels kernels_of(const ModelGraph& model, const ParallelPlan& plan, const LayerTask& task);

// Tasks on flat buffers: Accumulate, NormPart, Update.
struct Elements {
  std::int64_t value = 0;
};
TaskKernels flat_kernels(const ParallelPlan& plan, Operation operation, Elements elements);

}  // namespace sim
