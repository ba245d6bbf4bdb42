// Which tokens of a microbatch the plan gives a rank, and what its attention needs to know of them.
#pragma once

#include "executor/training/query_share.h"
#include "sim/plan/parallel_plan.h"

namespace executor {

// slice: of a plan that cuts samples into slices; none: all of the rank's tokens.
TokenStretches rank_tokens(const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice = {});  // shared with its tensor ranks
TokenStretches stream_tokens(const sim::ParallelPlan& plan, sim::Rank rank,
                             sim::SliceIndex slice = {});  // of the residual stream: sequence parallelism cuts once more

// The rows of a table of all positions that the rank's attention reads.
at::Tensor rotary_rows(const at::Tensor& table, const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice = {});
struct HeadsOfBlock {
  const sim::ModelConfig& config;  // of a network whose blocks are all as this one is
  at::Tensor rotary = {};          // rotary_rows(), or without a tensor
  ScoreForm scores = {};           // of this tensor rank's heads
};
ContextShape context_shape(const sim::ParallelPlan& plan, sim::Rank rank, const HeadsOfBlock& block, sim::SliceIndex slice = {});

}  // namespace executor
