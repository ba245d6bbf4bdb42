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

// The rows at this rank's positions of a sample.
at::Tensor own_rows(const at::Tensor& table, ContextCut cut) {
  cut.samples = 1;
  std::vector<at::Tensor> pieces;
  for (const TokenStretch& stretch : tokens_of(cut)) pieces.push_back(table.narrow(1, stretch.first, stretch.count));
  return at::cat(pieces, 1);
}

}  // namespace

TokenStretches rank_tokens(const sim::ParallelPlan& plan, sim::Rank rank) { return tokens_of(cut_of(plan, rank)); }

TokenStretches stream_tokens(const sim::ParallelPlan& plan, sim::Rank rank) {
  const sim::MeshCoordinate place = plan.mesh.coordinate(rank);
  const std::int64_t rows = plan.shard_shape().tokens() / (plan.sequence_parallel ? plan.mesh.tensor : 1);
  return rows_of(rank_tokens(plan, rank), {.begin = plan.sequence_parallel ? place.tensor * rows : 0, .count = rows});
}

SegmentSettings attention_settings(const sim::ParallelPlan& plan, sim::Rank rank, SegmentSettings settings) {
  if (plan.mesh.context == 1 || plan.model.attention.kind != sim::AttentionKind::Latent) return settings;
  settings.shares_samples = true;
  settings.sequence /= plan.mesh.context;
  settings.rotary = own_rows(settings.rotary, cut_of(plan, rank));
  return settings;
}

ContextShape context_shape(const sim::ParallelPlan& plan, sim::Rank rank, const at::Tensor& rotary, Mutation mutation) {
  const std::int64_t tensor = plan.mesh.tensor, context = plan.mesh.context;
  if (context == 1) return {};
  const sim::AttentionForm& form = plan.model.attention;
  const bool latent = form.kind == sim::AttentionKind::Latent, all_tokens = plan.context_algorithm == sim::ContextAlgorithm::AllToAll;
  ContextShape shape{.heads = {.heads = plan.model.heads / tensor, .kv_heads = plan.model.kv_heads / tensor, .head_dim = plan.model.head_dim, .sequence = plan.workload.sequence / context},
                     .ranks = context,
                     .rank = cut_of(plan, rank).rank,
                     .rotary = {},
                     .mutation = mutation};
  if (latent) {   // its projections turn what turns
    shape.heads.head_dim = form.qk_nope + form.qk_rope;
    shape.heads.value_dim = form.v_dim;
  } else if (rotary.defined()) {
    shape.rotary = all_tokens ? rotary : own_rows(rotary, cut_of(plan, rank));
  }
  return shape;
}

}  // namespace executor
