#include "executor/training/token_share.h"

#include <ATen/ops/cat.h>

#include <vector>

namespace executor {

namespace {

ContextCut cut_of(const sim::ParallelPlan& plan, sim::Rank rank) {
  return {.samples = plan.microbatch_size,
          .sequence = plan.workload.sequence,
          .ranks = plan.mesh.context,
          .rank = plan.mesh.coordinate(rank).data % plan.mesh.context,
          .is_mirrored = plan.context_algorithm != sim::ContextAlgorithm::AllToAll};
}

}  // namespace

TokenStretches rank_tokens(const sim::ParallelPlan& plan, sim::Rank rank) { return tokens_of(cut_of(plan, rank)); }

TokenStretches stream_tokens(const sim::ParallelPlan& plan, sim::Rank rank) {
  const sim::MeshCoordinate place = plan.mesh.coordinate(rank);
  const std::int64_t rows = plan.shard_shape().tokens() / (plan.sequence_parallel ? plan.mesh.tensor : 1);
  return rows_of(rank_tokens(plan, rank), {.begin = plan.sequence_parallel ? place.tensor * rows : 0, .count = rows});
}

// All of them where it computes on all tokens of a sample.
at::Tensor rotary_rows(const at::Tensor& table, const sim::ParallelPlan& plan, sim::Rank rank) {
  ContextCut cut = cut_of(plan, rank);
  if (cut.ranks == 1 || !cut.is_mirrored) return table;
  cut.samples = 1;
  std::vector<at::Tensor> pieces;
  for (const TokenStretch& stretch : tokens_of(cut)) pieces.push_back(table.narrow(1, stretch.first, stretch.count));
  return at::cat(pieces, 1);
}

ContextShape context_shape(const sim::ParallelPlan& plan, sim::Rank rank, const at::Tensor& rotary, Mutation mutation) {
  const std::int64_t tensor = plan.mesh.tensor, context = plan.mesh.context;
  if (context == 1) return {};
  return {.heads = {.heads = plan.model.heads / tensor, .kv_heads = plan.model.kv_heads / tensor, .head_dim = plan.model.head_dim, .sequence = plan.workload.sequence / context},
          .ranks = context,
          .rank = cut_of(plan, rank).rank,
          .rotary = rotary,
          .mutation = mutation};
}

}  // namespace executor
