#include "sim/estimate/step_estimate.h"

#include <algorithm>
#include <cmath>

#include "sim/clock/host_clock.h"
#include "sim/clock/operator_clock.h"
#include "sim/estimate/convolutional_step.h"
#include "sim/estimate/memory_estimate.h"
#include "sim/estimate/microbatch_times.h"

namespace sim {
namespace {

constexpr double kDriveBytes = 24;  // of a parameter: master weight and two moments, in and out

struct RankParameters {
  double dense = 0, experts = 0, trained = 0;
};

// Parameters of the heaviest pipeline rank.
RankParameters heaviest_rank(const RunDescription& run) {
  const auto stages = cut_stages(run.network, run.layout);
  std::vector<RankParameters> ranks(static_cast<std::size_t>(run.layout.pipeline));
  for (std::size_t at = 0; at < stages.size(); ++at) {
    RankParameters& rank = ranks[at % ranks.size()];
    const auto add = [&](const ParameterCount& count) {
      rank.dense += count.dense;
      rank.experts += count.experts;
      rank.trained += count.trained;
    };
    for (std::int64_t layer = stages[at].first; layer < stages[at].first + stages[at].count; ++layer)
      add(block_parameters(run, block_kind(run.network, layer)));
    if (run.network.kind == NetworkKind::DecoderLayer) continue;
    if (stages[at].embedding) add(embedding_parameters(run));
    if (stages[at].head && !(run.network.tied && stages[at].embedding)) add(embedding_parameters(run));
  }
  return *std::max_element(ranks.begin(), ranks.end(),
                           [](const RankParameters& a, const RankParameters& b) { return a.trained < b.trained; });
}

struct Exchange {
  double reduce = 0, gather = 0;
};

// Gradients over the replicas, and updated weights back where optimizer states are sharded.
Exchange exchange(const RunDescription& run, const SoftwareStack& stack, const LinkClock& links, const RankParameters& parameters) {
  const Layout& layout = run.layout;
  const double replicas = real(layout.data * layout.context),
               element = run.execution.format == NumberFormat::Fp32 || run.execution.format == NumberFormat::Tf32 ? 4 : 2;
  const double share = parameters.dense + parameters.experts > 0 ? parameters.trained / (parameters.dense + parameters.experts) : 1;
  const bool scatters = layout.zero_stage >= 2 || (layout.zero_stage == 1 && !stack.zero1_all_reduce);
  Exchange total;
  const auto add = [&](double count, const RankGroup& all) {
    const double payload = count * share * run.execution.reduce_bytes;
    const RankGroup shards{std::min(all.ranks, real(layout.zero_group)), all.stride};  // replicas outside share the sums of each shard
    const RankGroup replicas_outside{all.ranks / shards.ranks, all.stride * shards.ranks};
    if (scatters)
      total.reduce += links.collective(CollectiveKind::ReduceScatter, payload, shards) +
                      links.collective(CollectiveKind::AllReduce, payload / shards.ranks, replicas_outside);
    else
      total.reduce += links.collective(CollectiveKind::AllReduce, payload, all);
    if (layout.zero_stage < 1) return;
    total.gather += links.collective(CollectiveKind::AllGather, count * share * (run.execution.fp8_parameters ? 1 : element), shards);
    if (count > 0) total.gather += stack.broadcast_start.count() * shards.ranks;
  };
  add(parameters.dense, {replicas, real(layout.tensor)});
  const double whole = real(layout.tensor) / layout.expert_cut();  // ranks of the tensor group that hold experts of their own
  add(parameters.experts, {std::max(1.0, replicas * whole / real(layout.expert)), layout.expert_cut() * real(layout.expert)});
  return total;
}

struct OwnedStates {
  double count = 0, bytes = 0;
};  // parameters; what a step reads and writes of their states

// Gradients go down, the host steps through its memory, weights come up; from a drive all states are read and written first.
double host_step(const RunDescription& run, const KernelTraits& traits, const OwnedStates& owned) {
  const HostClock host = host_clock(traits);
  const double drive = run.execution.place == OptimizerPlace::Drive ? owned.count * kDriveBytes / traits.drive.value() : 0;
  return (host.copy(owned.count * (run.execution.reduce_bytes + 2)) + host.step(owned.bytes)).count() + drive;
}

double optimizer_time(const RunDescription& run, const KernelClock& kernels, const SoftwareStack& stack, const RankParameters& parameters) {
  const Layout& layout = run.layout;
  const double count = parameters.dense + parameters.experts, share = count > 0 ? parameters.trained / count : 0;
  const double owned =
      share * (layout.zero_stage >= 1 ? parameters.dense / layout.shards() + parameters.experts / layout.expert_shards() : count);
  const OperatorClock operators(kernels, stack, run.execution);
  if (run.execution.place == OptimizerPlace::Device) return operators.optimizer(owned).device;
  return host_step(run, kernels.traits(), {owned, owned * operators.optimizer_bytes()});
}

// What is left of an exchange beside passes: each chunk's part goes with that chunk's first forward or last backward (`pass` long), and a chunk
// begins p passes after the one before it.
double exposed(double exchange, double pass, const Layout& layout, double tail) {
  const double chunks = real(layout.chunks), behind = std::min(real(layout.pipeline), real(layout.microbatches));
  const double first = exchange / chunks - pass, last = exchange - ((chunks - 1) * behind + 1) * pass;
  return std::max({tail * exchange / chunks, first, last});
}

StepParts transformer_parts(const RunDescription& run, const Setting& setting) {
  const MicrobatchTimes times(run, setting);
  const Layout& layout = run.layout;
  auto stages = times.stages();
  if (layout.pipeline > 1 && !layout.schedule.starts_with("zb"))
    for (StageTimes& stage : stages) {
      stage.forward += setting.stack.pipeline_sync;
      stage.backward += setting.stack.pipeline_sync;
    }
  PipelineRun pipeline{.shape = {.stages = static_cast<std::int32_t>(layout.pipeline),
                                 .microbatches = static_cast<std::int32_t>(layout.microbatches),
                                 .chunks = static_cast<std::int32_t>(layout.chunks)},
                       .schedule = layout.schedule,
                       .chunks = stages,
                       .transfer = times.transfer(),
                       .transfer_blocks = !run.execution.overlap_pipeline && !layout.schedule.starts_with("zb")};
  StepParts parts;
  double one = 0, forward = 0, backward = 0;
  for (const StageTimes& stage : stages) {
    one = std::max(one, stage.forward.count() + stage.backward.count() + stage.weight.count());
    forward = std::max(forward, stage.forward.count());
    backward = std::max(backward, (stage.backward + stage.weight).count());
  }
  parts.pipeline = layout.pipeline == 1 ? one * real(layout.microbatches) : replay(pipeline).count();
  const RankParameters parameters = heaviest_rank(run);
  const KernelClock kernels(setting.device, setting.stack, run.execution);
  if (layout.zero_stage < 3 || layout.keeps_weights()) {
    const Exchange data = exchange(run, setting.stack, times.links(), parameters);
    const bool prefetches = layout.keeps_weights();  // as all of stage 3
    const double tail = setting.device.behavior.bucket_tail;
    parts.gradients = prefetches || run.execution.overlap_reduce ? exposed(data.reduce, backward, layout, tail) : data.reduce;
    parts.gather = prefetches || run.execution.overlap_gather ? exposed(data.gather, forward, layout, tail) : data.gather;
  }
  if (run.network.kind == NetworkKind::DecoderLayer) return parts;  // timed alone: no step
  parts.optimizer = optimizer_time(run, kernels, setting.stack, parameters);
  parts.overhead = setting.stack.step_overhead.count();
  return parts;
}

// Half width that is added to the interval for what no row spoke of to which constants were fitted; one for each such form.
double novelty(const RunDescription& run, const Behavior& known) {
  const Network& net = run.network;
  double square = 0;
  const auto add = [&](bool is_new, double width) { square += is_new ? width * width : 0; };
  add(net.experts.has_value(), known.novel_experts);
  add(net.low_rank.has_value(), known.novel_low_rank);
  add(net.attention.kind == AttentionKind::Latent, known.novel_latent);
  add(net.attention.kind == AttentionKind::Sliding, known.novel_sliding);
  add(run.layout.context > 1, known.novel_context);
  add(net.kind == NetworkKind::DecoderLayer, known.novel_layer);
  add(net.kind == NetworkKind::Convolutional && net.architecture != "resnet50", known.novel_convolution);
  add(run.execution.place != OptimizerPlace::Device, known.novel_offload);
  return std::sqrt(square);
}

}  // namespace

StepEstimate estimate_step(const RunDescription& run, const Setting& setting) {
  StepEstimate result;
  const bool convolutional = run.network.kind == NetworkKind::Convolutional;
  result.parts = convolutional ? convolutional_parts(run, setting) : transformer_parts(run, setting);
  result.time = Seconds(result.parts.total());
  const double width = std::hypot(setting.stack.interval, setting.device.kernels.interval, novelty(run, setting.device.behavior));
  result.low = result.time * std::max(0.05, 1 - width);
  result.high = result.time * (1 + width);
  take_memory(estimate_memory(run, setting), setting.device.behavior, result);
  return result;
}

}  // namespace sim
