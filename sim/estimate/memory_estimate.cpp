#include "sim/estimate/memory_estimate.h"

#include <algorithm>

#include "sim/estimate/convolutional_step.h"
#include "sim/estimate/layer_work.h"
#include "sim/estimate/saved_activations.h"
#include "sim/estimate/stage_cut.h"

namespace sim {
namespace {

constexpr double kGib = 1073741824.0;

// Chunk passes whose activations a rank holds at once, at most.
double in_flight(const Layout& layout, std::int64_t rank) {
  const double p = real(layout.pipeline), v = real(layout.chunks), m = real(layout.microbatches), behind = p - real(rank);
  if (layout.pipeline == 1) return 1;
  if (layout.schedule == "gpipe") return m * v;
  if (layout.schedule == "zb-1p") return std::min(m, p);
  if (layout.schedule == "zb-2p" || layout.schedule == "zb-2p-sync") return std::min(m, 2 * p - 1);
  if (layout.schedule == "v-half") return std::min(m, p / 2 + 1);
  if (layout.schedule == "v-min") return std::min(m, p / 3 + 2);
  if (layout.chunks > 1) return std::min(m * v, (v - 1) * p + 2 * (behind - 1) + 1);
  return std::min(m, behind);
}

struct Weights { double all = 0, trained = 0; };
struct RankMemory {
  Weights dense, experts;
  double activations = 0, again = 0, passing = 0, loss = 0;  // again: of the fullest block in its backward
  double gathered = 0;                                       // the ends of a network sharded by ZeRO-3 stay gathered during a step
  double peak() const { return gathered + std::max(again, loss); }
  // A caching allocator gives the loss new memory: what blocks freed before is in pieces that are too small for logits.
  double reserved_peak() const { return gathered + std::max(again, passing + loss); }
};

void add_stage(const RunDescription& run, const Setting& setting, const StageBlocks& stage, double flights, RankMemory& rank) {
  for (std::int64_t layer = stage.first; layer < stage.first + stage.count; ++layer) {
    const BlockKind kind = block_kind(run.network, layer);
    const SavedActivations saved = saved_activations(run, setting, kind);
    const ParameterCount count = block_parameters(run, kind);
    rank.dense.all += count.dense;
    rank.experts.all += count.experts;
    rank.dense.trained += run.network.low_rank ? count.trained : count.dense;
    rank.experts.trained += run.network.low_rank ? 0 : count.experts;
    rank.activations += flights * saved.kept;
    double working = run.execution.recompute == RecomputeKind::None ? 0 : saved.whole - saved.kept;
    if (run.layout.zero_stage == 3) working += count.total() * (2 * 2 + 4);
    rank.again = std::max(rank.again, working);
    rank.passing = std::max(rank.passing, saved.passing);
  }
  const ParameterCount table = embedding_parameters(run);
  const bool owns_head_weight = stage.head && !(run.network.tied && stage.embedding);
  for (const bool owns : {stage.embedding, owns_head_weight})
    if (owns) {
      rank.dense.all += table.dense;
      rank.dense.trained += table.trained;
      if (run.layout.zero_stage == 3 && !run.layout.keeps_weights()) rank.gathered += 2 * table.dense;
    }
  const SavedActivations ends = saved_activations(run, setting, BlockKind::Dense);
  if (stage.embedding) rank.activations += flights * ends.embedding * (setting.stack.dropout ? 0.5 : 0);
  const double message = ends.embedding / (run.layout.sequence_parallel ? real(run.layout.tensor) : 1);
  if (setting.stack.keeps_outputs)  // activations come in, unless from the embedding, and gradients, unless from the head
    rank.activations += message * real(run.layout.microbatches) * (2.0 - stage.embedding - stage.head);
  if (stage.head) rank.loss = ends.logits + ends.embedding;
}

// Weights, gradients, master copy and moments, each divided by those that share it.
double state_bytes(const RunDescription& run, const Setting& setting, const Weights& held, double shards) {
  const Layout& layout = run.layout;
  const bool half = run.execution.format != NumberFormat::Fp32 && run.execution.format != NumberFormat::Tf32;
  const double moments = run.execution.optimizer == StepOptimizer::Adam || run.execution.optimizer == StepOptimizer::Lamb ? 8 : 4;
  const double weights = run.network.low_rank ? run.network.low_rank->base_bytes : half ? 2 : 4;
  const double weight_share = layout.zero_stage >= 3 ? shards : 1, gradient_share = layout.zero_stage >= 2 ? shards : 1;
  const double optimizer_share = layout.zero_stage >= 1 ? shards : 1;
  const double whole = layout.keeps_weights() ? held.all * weights + held.trained * run.execution.accumulate_bytes : 0;
  if (layout.zero_stage == 3 && half) return whole + held.all * 4 / shards + held.trained * (4 + moments) / shards;  // sharded in fp32
  const double offload = run.execution.place == OptimizerPlace::Device ? 1 : 0;
  const double owned = layout.zero_stage >= 1 ? setting.stack.owner_gradient_bytes * held.trained / optimizer_share : 0;
  return owned + held.all * weights / weight_share + held.trained * run.execution.accumulate_bytes / gradient_share +
         offload * held.trained * (moments + (half ? 4 : 0)) / optimizer_share;
}

double state_bytes(const RunDescription& run, const Setting& setting, const RankMemory& rank) {
  return state_bytes(run, setting, rank.dense, run.layout.shards()) + state_bytes(run, setting, rank.experts, run.layout.expert_shards());
}

RankMemory rank_memory(const RunDescription& run, const Setting& setting, std::int64_t at) {
  RankMemory rank;
  const auto stages = cut_stages(run.network, run.layout);
  const double flights = in_flight(run.layout, at) / (run.layout.pipeline > 1 ? real(run.layout.chunks) : 1);
  for (std::size_t chunk = static_cast<std::size_t>(at); chunk < stages.size(); chunk += static_cast<std::size_t>(run.layout.pipeline))
    add_stage(run, setting, stages[chunk], flights, rank);
  return rank;
}

MemoryEstimate of_rank(const RunDescription& run, const Setting& setting, const RankMemory& rank, double available) {
  const double states = state_bytes(run, setting, rank) / kGib, activations = rank.activations * (1 + setting.stack.fragmentation) / kGib;
  const double lasting = states + activations + setting.stack.context_gib;
  const double needed = lasting + rank.peak() / kGib, reserved = lasting + rank.reserved_peak() / kGib;
  // What is cached is given back before memory runs out.
  const double shown = setting.stack.shows_reserved ? std::max(needed, std::min(reserved, available)) : needed;
  return {shown, needed, available, states, activations, rank.peak() / kGib};
}

}  // namespace

MemoryEstimate estimate_memory(const RunDescription& run, const Setting& setting) {
  MemoryEstimate fullest;
  fullest.available_gib = real(setting.device.profile.memory.value()) / kGib * setting.device.behavior.driver_share;
  if (run.network.kind == NetworkKind::Convolutional) {
    fullest.total_gib = fullest.needed_gib = convolutional_memory_gib(run, setting);
    return fullest;
  }
  for (std::int64_t at = 0; at < run.layout.pipeline; ++at) {
    const MemoryEstimate rank = of_rank(run, setting, rank_memory(run, setting, at), fullest.available_gib);
    const double needed = std::max(fullest.needed_gib, rank.needed_gib);
    if (rank.total_gib > fullest.total_gib) fullest = rank;
    fullest.needed_gib = needed;
  }
  return fullest;
}

}  // namespace sim
