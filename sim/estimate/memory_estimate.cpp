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

struct RankMemory {
  double parameters = 0, trained = 0, activations = 0, peak = 0;
};

void add_stage(const RunDescription& run, const Setting& setting, const StageBlocks& stage, double flights, RankMemory& rank) {
  for (std::int64_t layer = stage.first; layer < stage.first + stage.count; ++layer) {
    const BlockKind kind = block_kind(run.network, layer);
    const SavedActivations saved = saved_activations(run, setting, kind);
    const ParameterCount count = block_parameters(run, kind);
    rank.parameters += count.total();
    rank.trained += count.trained;
    rank.activations += flights * saved.kept;
    double working = run.execution.recompute == RecomputeKind::None ? 0 : saved.whole - saved.kept;
    if (run.layout.zero_stage == 3) working += count.total() * (2 * 2 + 4);
    rank.peak = std::max(rank.peak, working);
  }
  const ParameterCount table = embedding_parameters(run);
  const bool owns_head_weight = stage.head && !(run.network.tied && stage.embedding);
  for (const bool owns : {stage.embedding, owns_head_weight})
    if (owns) {
      rank.parameters += table.dense;
      rank.trained += table.trained;
    }
  const SavedActivations ends = saved_activations(run, setting, BlockKind::Dense);
  if (stage.embedding) rank.activations += flights * ends.embedding * (setting.stack.dropout ? 0.5 : 0);
  if (stage.head) rank.peak = std::max(rank.peak, ends.logits + ends.embedding);
}

// Weights, gradients, master copy and moments, each divided by those that share it.
double state_bytes(const RunDescription& run, const Setting& setting, const RankMemory& rank) {
  const Layout& layout = run.layout;
  const bool half = run.execution.format != NumberFormat::Fp32 && run.execution.format != NumberFormat::Tf32;
  const double shards = real(std::max<std::int64_t>(1, layout.zero_group));
  const double moments = run.execution.optimizer == StepOptimizer::Adam || run.execution.optimizer == StepOptimizer::Lamb ? 8 : 4;
  const double weights = run.network.low_rank ? run.network.low_rank->base_bytes : half ? 2 : 4;
  const double weight_share = layout.zero_stage >= 3 ? shards : 1, gradient_share = layout.zero_stage >= 2 ? shards : 1;
  const double optimizer_share = layout.zero_stage >= 1 ? shards : 1;
  const double whole = layout.keeps_weights() ? rank.parameters * weights + rank.trained * run.execution.accumulate_bytes : 0;
  if (layout.zero_stage == 3 && half)
    return whole + rank.parameters * 4 / shards + rank.trained * (4 + moments) / shards;  // sharded in fp32
  const double offload = run.execution.place == OptimizerPlace::Device ? 1 : 0;
  const double owned = layout.zero_stage >= 1 ? setting.stack.owner_gradient_bytes * rank.trained / optimizer_share : 0;
  return owned + rank.parameters * weights / weight_share + rank.trained * run.execution.accumulate_bytes / gradient_share +
         offload * rank.trained * (moments + (half ? 4 : 0)) / optimizer_share;
}

}  // namespace

MemoryEstimate estimate_memory(const RunDescription& run, const Setting& setting) {
  MemoryEstimate best;
  best.available_gib = real(setting.device.profile.memory.value()) / kGib * setting.device.behavior.driver_share;
  if (run.network.kind == NetworkKind::Convolutional) {
    best.total_gib = convolutional_memory_gib(run, setting);
    return best;
  }
  const auto stages = cut_stages(run.network, run.layout);
  for (std::int64_t at = 0; at < run.layout.pipeline; ++at) {
    RankMemory rank;
    const double flights = in_flight(run.layout, at) / (run.layout.pipeline > 1 ? real(run.layout.chunks) : 1);
    for (std::size_t chunk = static_cast<std::size_t>(at); chunk < stages.size(); chunk += static_cast<std::size_t>(run.layout.pipeline))
      add_stage(run, setting, stages[chunk], flights, rank);
    const double activations = rank.activations * (1 + setting.stack.fragmentation);
    const double total = (state_bytes(run, setting, rank) + activations + rank.peak) / kGib + setting.stack.context_gib;
    if (total > best.total_gib)
      best = {total, best.available_gib, state_bytes(run, setting, rank) / kGib, activations / kGib, rank.peak / kGib};
  }
  return best;
}

}  // namespace sim
