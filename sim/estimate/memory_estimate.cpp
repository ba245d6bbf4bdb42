#include "sim/estimate/memory_estimate.h"

#include <algorithm>
#include <cmath>

#include "sim/clock/spread.h"
#include "sim/estimate/convolutional_step.h"
#include "sim/estimate/layer_work.h"
#include "sim/estimate/pipeline_replay.h"
#include "sim/estimate/saved_activations.h"
#include "sim/estimate/stage_cut.h"

namespace sim {
namespace {

constexpr double kGib = 1073741824.0;

// The pipeline with no more microbatches than it takes to be full: schedules hold at most 2p - 1 of them.
PipelineShape full_shape(const Layout& layout) {
  const std::int64_t stages = layout.pipeline, enough = 4 * stages + layout.microbatches % stages;
  const auto small = [](std::int64_t count) { return static_cast<std::int32_t>(count); };
  return {small(stages), small(layout.schedule == "gpipe" ? layout.microbatches : std::min(layout.microbatches, enough)),
          small(layout.chunks)};
}

struct Weights {
  double all = 0, trained = 0;
};
struct RankMemory {
  Weights dense, experts;
  double activations = 0, again = 0, passing = 0, loss = 0;  // again: of the fullest block in its backward
  double staged = 0;                                         // largest gather of ZeRO-3 that a stream of its own receives
  double gathered = 0;                                       // the ends of a network sharded by ZeRO-3 stay gathered during a step
  double peak() const { return staged + gathered + std::max(again, loss); }
  // A caching allocator gives the loss new memory: what blocks freed before is in pieces that are too small for logits.
  double reserved_peak() const { return staged + gathered + std::max(again, passing + loss); }
};

// Beside what a block keeps: what it computes again, gradients, weights gathered for it and for the next, its own gradient in fp32.
double working_set(const RunDescription& run, const SavedActivations& saved, double parameters) {
  const double again = run.execution.recompute == RecomputeKind::None ? 0 : saved.whole - saved.kept;
  const double weights = run.layout.zero_stage == 3 ? parameters * ((run.layout.keeps_weights() ? 0 : 2 * 2) + 4) : 0;
  return again + saved.gradients + saved.exchanged + weights;
}

void stage_gather(const RunDescription& run, const Setting& setting, double elements, RankMemory& rank) {
  if (run.layout.zero_stage == 3 && setting.stack.stages_gathers) rank.staged = std::max(rank.staged, 2 * elements);
}

void add_block(const RunDescription& run, const Setting& setting, BlockKind kind, double flights, RankMemory& rank) {
  const SavedActivations saved = saved_activations(run, setting, kind);
  const ParameterCount count = block_parameters(run, kind);
  rank.dense.all += count.dense;
  rank.experts.all += count.experts;
  rank.dense.trained += run.network.low_rank ? count.trained : count.dense;
  rank.experts.trained += run.network.low_rank ? 0 : count.experts;
  rank.activations += flights * saved.kept;
  rank.again = std::max(rank.again, working_set(run, saved, count.total()));
  rank.passing = std::max(rank.passing, saved.passing);
  stage_gather(run, setting, 2 * count.total(), rank);  // and of the next one
}

// Embedding and output head: one unit of ZeRO-3.
void add_ends(const RunDescription& run, const Setting& setting, const StageBlocks& stage, RankMemory& rank) {
  const ParameterCount table = embedding_parameters(run);
  const double tables = stage.embedding + (stage.head && !(run.network.tied && stage.embedding));
  rank.dense.all += tables * table.dense;
  rank.dense.trained += tables * table.trained;
  if (run.layout.zero_stage == 3 && !run.layout.keeps_weights()) rank.gathered += 2 * tables * table.dense;
  stage_gather(run, setting, tables * table.dense, rank);
}

// What passes between stages and stays: activations that come in, unless from the embedding; gradients that do and activations that go out,
// unless at the head.
double held_messages(const SoftwareStack& stack, const StageBlocks& stage) {
  if (stack.held_messages == 0) return 0;
  return (stage.embedding ? 0 : 1) + (stage.head ? 0 : real(stack.held_messages) - 1);
}

void add_stage(const RunDescription& run, const Setting& setting, const StageBlocks& stage, double flights, RankMemory& rank) {
  for (std::int64_t layer = stage.first; layer < stage.first + stage.count; ++layer)
    add_block(run, setting, block_kind(run.network, layer), flights, rank);
  add_ends(run, setting, stage, rank);
  const SavedActivations ends = saved_activations(run, setting, BlockKind::Dense);
  if (stage.embedding) rank.activations += flights * ends.embedding * (setting.stack.dropout ? 0.5 : 0);
  const double message = ends.embedding / (run.layout.sequence_parallel ? real(run.layout.tensor) : 1);
  rank.activations += message * real(run.layout.microbatches) * held_messages(setting.stack, stage);
  if (stage.head) rank.loss = ends.logits + ends.embedding;
}

// Weights, gradients, master copy and moments, each divided by those that share it.
double state_bytes(const RunDescription& run, const Setting& setting, const Weights& held, double shards) {
  const Layout& layout = run.layout;
  const bool half = run.execution.format != NumberFormat::Fp32 && run.execution.format != NumberFormat::Tf32;
  const double moments = run.execution.optimizer == OptimizerKind::AdamW || run.execution.optimizer == OptimizerKind::Lamb ? 8 : 4;
  const double weights = run.network.low_rank ? run.network.low_rank->base_bytes : half ? 2 : 4;
  const double weight_share = layout.zero_stage >= 3 ? shards : 1, gradient_share = layout.zero_stage >= 2 ? shards : 1;
  const double optimizer_share = layout.zero_stage >= 1 ? shards : 1;
  const double offload = run.execution.place == OptimizerPlace::Device ? 1 : 0;
  const double whole = layout.keeps_weights() ? held.all * weights + held.trained * run.execution.accumulate_bytes : 0;
  if (layout.zero_stage == 3 && half && offload > 0)  // sharded in fp32, but for what is not trained
    return whole + (held.all * (run.network.low_rank ? weights : 4) + held.trained * (4 + moments)) / shards;
  const double owned = layout.zero_stage >= 1 ? setting.stack.owner_gradient_bytes * held.trained / optimizer_share : 0;
  return owned + whole + held.all * weights / weight_share + held.trained * run.execution.accumulate_bytes / gradient_share +
         offload * held.trained * (moments + (half ? 4 : 0)) / optimizer_share;
}

double state_bytes(const RunDescription& run, const Setting& setting, const RankMemory& rank) {
  return state_bytes(run, setting, rank.dense, run.layout.shards()) + state_bytes(run, setting, rank.experts, run.layout.expert_shards());
}

RankMemory rank_memory(const RunDescription& run, const Setting& setting, StageIndex at) {
  RankMemory rank;
  const auto stages = cut_stages(run.network, run.layout);
  const PipelineShape shape = full_shape(run.layout);
  const Schedule& schedule = played_schedule(run.layout.schedule, shape);
  const double flights = shape.stages > 1 ? peak_in_flight(schedule.order(shape, at)) / real(shape.chunks) : 1;
  for (std::int32_t chunk = 0; chunk < shape.chunks; ++chunk) {
    const std::int32_t place = virtual_stage(schedule.placement, shape, {at, ChunkIndex(chunk)});
    add_stage(run, setting, stages[static_cast<std::size_t>(place)], flights, rank);
  }
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
    const MemoryEstimate rank =
        of_rank(run, setting, rank_memory(run, setting, StageIndex(static_cast<std::int32_t>(at))), fullest.available_gib);
    const double needed = std::max(fullest.needed_gib, rank.needed_gib);
    if (rank.total_gib > fullest.total_gib) fullest = rank;
    fullest.needed_gib = needed;
  }
  return fullest;
}

void take_memory(const MemoryEstimate& memory, const Behavior& known, StepEstimate& estimate) {
  estimate.memory_gib = memory.total_gib;
  estimate.memory_low_gib = memory.total_gib / (1 + known.memory_interval);
  estimate.memory_high_gib = memory.total_gib * (1 + known.memory_interval);
  estimate.out_of_memory_chance = chance_above(
      {memory.needed_gib / (1 + known.memory_interval), memory.needed_gib * (1 + known.memory_interval)}, memory.available_gib);
  estimate.out_of_memory = estimate.out_of_memory_chance > 0.5;
}

}  // namespace sim
