#include "sim/estimate/microbatch_times.h"

#include <algorithm>
#include <map>

#include "sim/clock/operator_clock.h"
#include "sim/clock/spread.h"

namespace sim {
MicrobatchTimes::MicrobatchTimes(const RunDescription& run, const Setting& setting)
    : run_(run),
      setting_(setting),
      kernels_(setting.device, setting.stack, run.execution),
      slowest_(slowest_device(real(run.machine.gpus), setting.device.behavior)),
      links_(setting.device, setting.stack, run.machine) {}

// Two sums forward and two backward in a block; with sequence parallelism each is a gather and a scatter of the same volume.
MicrobatchTimes::Collectives MicrobatchTimes::tensor_collectives(BlockKind kind, const LayerWork& work) const {
  const RankGroup group{real(run_.layout.tensor), 1};
  if (group.ranks <= 1) return {};
  const double payload = run_.tokens() * real(run_.network.hidden) * kernels_.element();
  double sum = links_.collective(CollectiveKind::AllReduce, payload, group), gather = 0;
  if (run_.layout.sequence_parallel) {
    const double half = gathers_fp8(run_.layout, run_.execution, setting_.stack) ? 0.5 : 1;
    gather = links_.collective(CollectiveKind::AllGather, half * payload, group);
    sum = links_.collective(CollectiveKind::ReduceScatter, payload, group);
  }
  const double count = kind == BlockKind::Experts && !run_.layout.expert_tensor ? 1 : 2;  // whole experts take tokens as they are cut
  const double backward = count * (sum + (1 + behavior().sequence_regather) * gather);    // inputs for weight gradients, mostly hidden
  if (run_.execution.overlap_tensor) {
    const double seen = exposed_along_product(group.ranks);
    return {count * (sum + gather) * seen, backward * seen};
  }
  if (run_.layout.async_tensor) return {count * (sum + gather), backward * (1 - behavior().async_hidden)};
  const double hidden = setting_.stack.overlap_input_gradient ? std::min(count * sum, work.beside_sums) : 0;
  return {count * (sum + gather), backward - hidden};
}

// Keys and values of the other context ranks: a ring or a gather that attention hides, or two exchanges of heads that it does not.
MicrobatchTimes::Collectives MicrobatchTimes::context_collectives(double compute) const {
  const Layout& layout = run_.layout;
  if (layout.context <= 1) return {};
  const RankGroup group{real(layout.context), real(layout.tensor)};
  const double dim = real(run_.network.head_dim) / real(layout.tensor) * kernels_.element();
  if (layout.context_all_to_all) {
    const double away = (group.ranks - 1) / group.ranks * run_.tokens() * dim;
    const double heads = links_.all_to_all(away * real(run_.network.heads + 2 * run_.network.kv_heads), group);
    const double back = links_.all_to_all(away * real(run_.network.heads), group);
    return {heads + back, heads + back};
  }
  const double kv = run_.tokens() * group.ranks * dim * 2 * real(run_.network.kv_heads);
  const double gather = links_.collective(CollectiveKind::AllGather, kv, group);
  const double seen = std::max(behavior().context_exposed * gather, gather - compute);
  return {seen, 2 * seen};
}

LayerWork MicrobatchTimes::slowed(LayerWork work) const {
  for (Work* part : {&work.linear, &work.attention, &work.elementwise, &work.widening, &work.input_gradient, &work.attention_back,
                     &work.elementwise_back, &work.weight_gradient})
    part->device *= slowest_;
  work.beside_sums *= slowest_;
  return work;
}

// forward: of the whole block, with its collectives and exchanges.
double MicrobatchTimes::recomputed(const LayerWork& work, double forward) const {
  switch (run_.execution.recompute) {
    case RecomputeKind::None: return 0;
    case RecomputeKind::AttentionCore: return run_.execution.attention >= AttentionKernel::Flash1 ? 0 : work.attention.device;
    case RecomputeKind::SaveProjections: return work.elementwise.device + work.attention.device + work.widening.device;
    case RecomputeKind::CheapOperators: return work.elementwise.device + 0.5 * work.linear.device;
    case RecomputeKind::EverySecondLayer: return 0.5 * forward;
    case RecomputeKind::Full: return forward;
  }
  return 0;
}

// Weights arrive while the layer before computes; what takes longer is waited for. Gradients leave in the backward.
MicrobatchTimes::Pass MicrobatchTimes::with_gathers(Pass pass, double parameters) const {
  if (!gathers_weights() || run_.layout.keeps_weights()) return pass;  // once a step: see step_estimate
  const Layout& layout = run_.layout;
  const RankGroup group{real(std::max<std::int64_t>(1, layout.zero_group)), real(layout.tensor)};
  const double weight_bytes = run_.execution.fp8_parameters ? 1 : kernels_.element();
  const double gather = links_.collective(CollectiveKind::AllGather, parameters * weight_bytes, group);
  double scatter = links_.collective(CollectiveKind::ReduceScatter, parameters * run_.execution.reduce_bytes, group);
  const double replicas = real(layout.data * layout.context) / group.ranks;
  if (replicas > 1)
    scatter += links_.collective(CollectiveKind::AllReduce, parameters * run_.execution.reduce_bytes / group.ranks,
                                 {replicas, group.ranks * group.stride});
  const double slowdown = setting_.stack.overlap_slowdown, backward = (layout.reshard ? gather : 0) + scatter;
  const double compute_back = pass.backward + pass.weight;
  pass.forward = std::max(pass.forward + slowdown * std::min(gather, pass.forward), gather);
  const double longer = std::max(compute_back + slowdown * std::min(backward, compute_back), backward) / compute_back;
  pass.backward *= longer;
  pass.weight *= longer;
  return pass;
}

// Gradients of this microbatch are added to those before: one pass over both.
double MicrobatchTimes::accumulation(double parameters) const {
  if (gathers_weights() || run_.layout.microbatches <= 1 || run_.network.low_rank) return 0;
  return OperatorClock(kernels_, setting_.stack, run_.execution).accumulation(parameters).device;
}

double MicrobatchTimes::gathered_logits() const {
  if (setting_.stack.vocabulary_parallel) return 0;
  const double payload = run_.tokens() * real(run_.network.vocabulary) * kernels_.element();
  return links_.collective(CollectiveKind::AllGather, payload, {real(run_.layout.tensor), 1});
}

double MicrobatchTimes::dispatch_time(double bytes) const {
  if (!run_.network.experts) return 0;
  const RankGroup group{real(run_.layout.expert), run_.layout.expert_cut()};
  return links_.all_to_all(bytes, group, token_copies(*run_.network.experts, setting_.stack));
}

MicrobatchTimes::Pass MicrobatchTimes::piece(const LayerWork& work, const Collectives& collectives, double parameters) const {
  const double launches = run_.execution.graphs ? behavior().graph_launch_share : 1;
  const auto time = [&](const Work& part) { return std::max(part.device, kernels_.host_time(part) * launches); };
  Pass pass{time(work.forward()) + collectives.forward, time(work.backward()) + collectives.backward,
            time(work.weight_gradient) + accumulation(parameters)};
  if (run_.layout.expert > 1) {
    const double dispatch = 2 * dispatch_time(work.dispatched_bytes);
    pass.forward += dispatch;
    pass.backward += dispatch;
  }
  return pass;
}

MicrobatchTimes::Pass MicrobatchTimes::block(std::int64_t layer) const {
  const Network& net = run_.network;
  const bool windowed = net.attention.kind == AttentionKind::Sliding && layer % std::max<std::int64_t>(1, net.attention.every) == 0;
  const BlockKind kind = block_kind(net, layer);
  LayerWork work = slowed(block_work(run_, setting_.stack, kernels_, {kind, windowed}));
  const double uneven = run_.layout.context_ring ? ring_slowdown(setting_.stack, real(run_.layout.context)) : 1;
  work.attention.device *= uneven;
  work.attention_back.device *= uneven;
  const Collectives tensor = tensor_collectives(kind, work), context = context_collectives(work.attention.device);
  const double parameters = block_parameters(run_, kind).total();
  Pass pass = piece(work, {tensor.forward + context.forward, tensor.backward + context.backward}, parameters);
  pass.backward += recomputed(work, pass.forward);
  return with_gathers(pass, parameters);
}

std::vector<StageTimes> MicrobatchTimes::stages() const {
  std::map<std::pair<BlockKind, bool>, Pass> known;
  std::vector<StageTimes> times;
  for (const StageBlocks& stage : cut_stages(run_.network, run_.layout)) {
    Pass sum;
    const auto add = [&](const Pass& pass) { sum = {sum.forward + pass.forward, sum.backward + pass.backward, sum.weight + pass.weight}; };
    for (std::int64_t layer = stage.first; layer < stage.first + stage.count; ++layer) {
      const auto key = std::pair{block_kind(run_.network, layer), layer % std::max<std::int64_t>(1, run_.network.attention.every) == 0};
      const auto [at, is_new] = known.try_emplace(key);
      if (is_new) at->second = block(layer);
      add(at->second);
    }
    const double table = embedding_parameters(run_).dense;
    if (run_.network.kind != NetworkKind::DecoderLayer) {
      const double head_table = run_.network.tied ? 0 : table;
      if (stage.embedding) add(with_gathers(piece(slowed(embedding_work(run_, setting_.stack, kernels_)), {}, table), table));
      if (stage.head)
        add(with_gathers(piece(slowed(head_work(run_, setting_.stack, kernels_)), {gathered_logits(), 0}, head_table), head_table));
    }
    times.push_back({Seconds(sum.forward), Seconds(sum.backward), Seconds(sum.weight)});
  }
  return times;
}

Seconds MicrobatchTimes::transfer() const {
  const Layout& layout = run_.layout;
  if (layout.pipeline <= 1) return Seconds(0);
  const bool cut = layout.sequence_parallel || layout.scatter_gather;
  const double payload = run_.tokens() * real(run_.network.hidden) * kernels_.element() / (cut ? real(layout.tensor) : 1);
  return Seconds(links_.transfer(payload, {2, real(layout.tensor * layout.context * layout.data)}));
}

}  // namespace sim
