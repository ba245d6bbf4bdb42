#include "executor/training/token_share.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <vector>

#include "sim/model/model_words.h"

namespace executor {
namespace {

bool is_latent(const sim::ParallelPlan& plan) { return plan.model.attention.kind == sim::AttentionKind::Latent; }

// Before anything is dealt or passed on, where this rank has its own tokens.
bool turns_at_once(const sim::ParallelPlan& plan, sim::SliceIndex slice) {
  const bool passes_keys = slice.exists() || plan.context_algorithm != sim::ContextAlgorithm::AllToAll;
  return is_latent(plan) || (sim::norms_turned_heads(plan.model) && passes_keys);
}

ContextCut cut_of(const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice) {
  if (slice.exists())
    return {.samples = plan.microbatch_size, .sequence = plan.workload.sequence, .ranks = plan.slices, .rank = slice.value()};
  return {.samples = plan.microbatch_size,
          .sequence = plan.workload.sequence,
          .ranks = plan.mesh.context,
          .rank = plan.mesh.context_rank(plan.mesh.coordinate(rank)),
          .is_mirrored = plan.context_algorithm != sim::ContextAlgorithm::AllToAll && !plan.context_by_document};
}

// What its attention works on: neighbours that have dealt their heads have the tokens of all of them.
ContextCut attended_cut(const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice) {
  ContextCut cut = cut_of(plan, rank, slice);
  if (slice.exists() || plan.context_algorithm != sim::ContextAlgorithm::Hierarchical) return cut;
  cut.ranks = plan.block_ranks();
  cut.rank /= plan.head_ranks();
  return cut;
}

// Of those of a tensor rank.
ScoreForm of_dealt_heads(ScoreForm form, HeadRange heads) {
  if (form.slopes.defined()) form.slopes = form.slopes.narrow(0, heads.first, heads.count);
  form.first_sink += heads.first;
  return form;
}

}  // namespace

TokenStretches rank_tokens(const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice) {
  return tokens_of(cut_of(plan, rank, slice));
}

TokenStretches stream_tokens(const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice) {
  const sim::MeshCoordinate place = plan.mesh.coordinate(rank);
  const std::int64_t rows = plan.shard_shape().tokens() / (plan.sequence_parallel ? plan.mesh.tensor : 1);
  return rows_of(rank_tokens(plan, rank, slice), {.begin = plan.sequence_parallel ? place.tensor * rows : 0, .count = rows});
}

// All of them where positions are turned when all tokens of a sample are here: heads were exchanged. Latent keys are turned before, and those that are normed
// behind their turn and then passed on.
at::Tensor rotary_rows(const at::Tensor& table, const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice) {
  const bool at_once = turns_at_once(plan, slice);
  ContextCut cut = at_once ? cut_of(plan, rank, slice) : attended_cut(plan, rank, slice);
  const bool has_dealt_heads = !slice.exists() && plan.context_algorithm == sim::ContextAlgorithm::AllToAll;
  if (cut.ranks == 1 || (has_dealt_heads && !at_once)) return table;
  cut.samples = 1;
  std::vector<at::Tensor> pieces;
  for (const TokenStretch& stretch : tokens_of(cut)) pieces.push_back(table.narrow(1, stretch.first, stretch.count));
  return at::cat(pieces, 1);
}

ContextShape context_shape(const sim::ParallelPlan& plan, sim::Rank rank, const HeadsOfBlock& block, sim::SliceIndex slice) {
  const bool has_two_levels = plan.context_algorithm == sim::ContextAlgorithm::Hierarchical;
  const std::int64_t neighbours = has_two_levels ? plan.head_ranks() : 1, sharers = plan.mesh.tensor * neighbours;
  const ContextCut cut = attended_cut(plan, rank, slice);
  if (cut.ranks == 1) return {};
  const sim::ModelConfig& config = block.config;
  const sim::AttentionForm& form = config.attention;
  const std::int64_t key_width = is_latent(plan) ? form.key_width() : config.head_dim, heads = config.heads / sharers,
                     value_width = is_latent(plan)        ? form.v_dim
                                   : config.value_dim > 0 ? config.value_dim
                                                          : key_width;
  const std::int64_t inside = plan.mesh.context_rank(plan.mesh.coordinate(rank)) % neighbours;
  return {.heads = {.heads = heads,
                    .kv_heads = std::max<std::int64_t>(1, (is_latent(plan) ? config.heads : config.kv_heads) / sharers),
                    .head_dim = key_width,
                    .sequence = plan.workload.sequence / cut.ranks,
                    .value_dim = value_width,
                    .value_factor = config.value_factor},
          .value_dim = value_width,
          .gates = sim::heads_of(config).gate / plan.mesh.tensor,
          .ranks = cut.ranks,
          .rank = cut.rank,
          .head_ranks = neighbours,
          .is_mirrored = cut.is_mirrored,
          .rotary = turns_at_once(plan, slice) ? at::Tensor() : block.rotary,
          .scores = has_two_levels ? of_dealt_heads(block.scores, {.first = inside * heads, .count = heads}) : block.scores};
}

}  // namespace executor
