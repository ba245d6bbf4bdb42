#include "sim/validation/lowered_row.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/engine/simulate.h"
#include "sim/estimate/stage_cut.h"
#include "sim/validation/known_networks.h"

namespace sim {
namespace {

// BERT's (Devlin et al. 2018): post-norm, types of tokens beside positions, a transform in front of the head.
void make_encoder(ModelConfig& model) {
  model.model_type = "bert";
  model.bidirectional = model.embedding_norm = model.head_transform = model.head_bias = true;
  model.norm_place = NormPlace::AfterSum;
  model.final_norm = false;
  model.token_types = 2;
}

void set_window(ModelConfig& model, const AttentionForm& form) {
  model.window = form.window;
  if (form.every == 1) return;
  for (std::int64_t block = 0; block < model.layers; ++block) model.windowed.push_back(block % form.every == 0);
}

ModelConfig model_of(const Network& net, const RowWords& words) {
  if (net.kind == NetworkKind::Convolutional) return known_network(net.architecture, {net.channels, net.image});
  ModelConfig model;
  model.model_type = net.gated ? "llama" : "gpt2";
  model.layers = net.layers;
  model.hidden = net.hidden;
  model.heads = net.heads;
  model.kv_heads = net.kv_heads;
  model.head_dim = net.head_dim;
  model.ffn = net.ffn;
  model.vocabulary = net.vocabulary;
  model.max_positions = net.sequence;
  model.norm = net.rms_norm ? Norm::RmsNorm : Norm::LayerNorm;
  model.position = words.alibi ? Position::Alibi : net.rotary ? Position::Rotary : Position::Learned;
  model.activation = net.gated ? Activation::Silu : Activation::Gelu;
  model.gated_mlp = net.gated;
  model.attention_bias = model.projection_bias = model.mlp_bias = net.bias;
  model.tied_embeddings = net.tied;
  model.experts = net.experts;
  model.sinks = words.sinks;
  if (net.kind == NetworkKind::Encoder) make_encoder(model);
  if (net.attention.kind == AttentionKind::Sliding) set_window(model, net.attention);
  if (net.attention.kind != AttentionKind::Latent) {
    model.qk_norm = words.qk_norm ? QkNorm::Heads : QkNorm::None;
    return model;
  }
  model.attention = net.attention;  // its narrow vectors have norms in any case
  model.kv_heads = net.heads;
  model.head_dim = (net.attention.key_width() + net.attention.v_dim) / 2;
  return model;
}

OptimizerKind optimizer_of(StepOptimizer optimizer) {
  switch (optimizer) {
    case StepOptimizer::Adam: return OptimizerKind::AdamW;
    case StepOptimizer::Lamb: return OptimizerKind::Lamb;
    case StepOptimizer::Lars: return OptimizerKind::Lars;
    case StepOptimizer::RmsPropEma: return OptimizerKind::RmsProp;
    case StepOptimizer::SgdMomentum: break;
  }
  return OptimizerKind::Sgd;
}

Precision products_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::Tf32: return Precision::Tf32;
    case NumberFormat::Fp16: return Precision::Fp16;
    case NumberFormat::Bf16:
    case NumberFormat::Fp8:
    case NumberFormat::Fp4: return Precision::Bf16;
    default: return Precision::Fp32;
  }
}
PrecisionPolicy precision_of(const RunDescription& run, const RowWords& words) {
  PrecisionPolicy policy(products_of(run.execution.format));
  if (is_scaled(run.execution.format)) policy = policy.with(run.execution.scales, run.execution.fp8_parameters);
  if (words.gradients)
    policy = policy.with(Numbers::Gradients, *words.gradients);
  else if (run.execution.reduce_bytes == 4)
    policy = policy.with(Numbers::Gradients, Precision::Fp32);
  if (words.masters) policy = policy.with(Numbers::Masters, *words.masters);
  if (words.moments) policy = policy.with(Numbers::Moments, *words.moments);
  return policy;
}

// What a row says of its links stands in the profile of its own.
HardwareProfile hardware_of(const Machine& machine, const Device& device) {
  HardwareProfile profile = device.profile;
  profile.kernels = device.kernels;
  profile.devices_per_node = static_cast<std::int32_t>(machine.gpus_per_node);
  if (machine.link_gbytes > 0 && profile.intra_node.peak_bandwidth.value() > 0)
    profile.intra_node.bandwidth =
        profile.intra_node.bandwidth * (machine.link_gbytes * 1e9 / 2 / profile.intra_node.peak_bandwidth.value());
  if (machine.network_gbits > 0) profile.inter_node.peak_bandwidth = BytesPerSecond(machine.network_gbits * 1e9 / 8);
  if (profile.inter_node.type.empty())
    profile.inter_node = {.type = "network", .latency = Seconds(1e-6), .bandwidth = BytesPerSecond(1e10)};
  return profile;
}

SoftwareStack software_of(const Execution& execution, const SoftwareStack& stack) {
  SoftwareStack software = stack;
  software.attention = kAttentionKernelNames[static_cast<std::size_t>(execution.attention)];
  software.fused_norm = execution.fused_norm;
  software.fused_loss = execution.fused_loss;
  software.compiled = execution.compiled;
  software.dropout = execution.dropout;
  software.overlap_reduce = execution.overlap_reduce;
  software.overlap_gather = execution.overlap_gather;
  software.overlap_tensor = execution.overlap_tensor;
  software.overlap_pipeline = execution.overlap_pipeline;
  software.accumulate_bytes = execution.accumulate_bytes;
  return software;
}

ContextAlgorithm context_of(const Layout& layout) {
  return layout.context_all_to_all ? ContextAlgorithm::AllToAll
         : layout.context_ring     ? ContextAlgorithm::Ring
                                   : ContextAlgorithm::AllGather;
}

struct Recomputation {
  Recompute what = Recompute::None;
  RecomputeScope scope{};
};
Recomputation recompute_of(const Execution& execution) {
  switch (execution.recompute) {
    case RecomputeKind::Full: return {Recompute::Full, {.but_last = execution.recompute_keeps_last}};
    case RecomputeKind::EverySecondLayer: return {Recompute::Full, {.every = 2}};
    case RecomputeKind::AttentionCore: return {Recompute::Selective, {}};
    case RecomputeKind::CheapOperators: return {Recompute::Selective, {.modules = Module::Op}};
    case RecomputeKind::SaveProjections: return {Recompute::Selective, {.modules = Module::Mlp | Module::LayerNorm}};
    case RecomputeKind::None: break;
  }
  return {};
}

// A balance counts children of the flattened network.
StageCut cut_of_children(const Layout& layout, std::int64_t blocks) {
  const auto parts = static_cast<std::int32_t>(layout.pipeline);
  if (layout.balance.size() != static_cast<std::size_t>(parts)) return even_cut(blocks, {.stages = parts, .microbatches = 1, .chunks = 1});
  StageCut cut;
  std::int64_t first = 0;
  for (const std::int64_t children : layout.balance) {
    cut.first.push_back(LayerIndex(static_cast<std::int32_t>(first)));
    first += children;
  }
  if (first != blocks + 2)
    throw InputError("plan", {{"/partition/balance", "sums up to another number than the network's children", "correct it"}});
  return cut;
}

StageCut cut_of(const RunDescription& run) {
  const Layout& layout = run.layout;
  const auto small = [](std::int64_t count) { return static_cast<std::int32_t>(count); };
  if (layout.cut == CutKind::Uniform)
    return even_cut(run.network.layers, {small(layout.pipeline), small(layout.microbatches), small(layout.chunks)});
  StageCut cut;
  for (const StageBlocks& stage : cut_stages(run.network, layout))
    cut.first.push_back(LayerIndex(stage.embedding ? 0 : small(stage.first + 1)));
  return cut;
}

}  // namespace

std::string why_not_lowered(const RunDescription& run) {
  const Network& net = run.network;
  const Layout& layout = run.layout;
  const struct {
    bool holds;
    const char* reason;
  } kReasons[] = {
      {net.kind == NetworkKind::Convolutional && known_network(net.architecture, {}).model_type.empty(),
       "is a convolutional network of unknown shape"},
      {net.kind == NetworkKind::DecoderLayer, "is a single layer"},
      {net.low_rank.has_value(), "trains adapters"},
      {net.experts && !layout.expert_tensor && layout.tensor > 1, "cuts experts over other ranks than its layers"},
      {run.execution.place != OptimizerPlace::Device, "keeps its optimizer on the host"},
      {layout.zero_stage > 0 && layout.data * layout.context % layout.zero_group != 0,
       "shards over a group that does not divide its ranks"},
      {layout.global_batch != layout.data * layout.micro_batch * layout.microbatches, "has uneven microbatches"},
      {run.machine.oversubscription > 1, "has links that are not alike"},
  };
  for (const auto& [holds, reason] : kReasons)
    if (holds) return reason;
  return layout.pipeline > 1 && !find_schedule(layout.schedule) ? "has an unknown schedule" : "";
}

ParallelPlan lowered_plan(const RunDescription& run, const Setting& setting, const RowWords& words) {
  const Layout& layout = run.layout;
  const auto small = [](std::int64_t count) { return static_cast<std::int32_t>(count); };
  ParallelPlan plan;
  plan.model = model_of(run.network, words);
  plan.cluster = {hardware_of(run.machine, setting.device), small(run.machine.gpus), software_of(run.execution, setting.stack)};
  plan.workload = {.sequence = std::max<std::int64_t>(1, std::llround(run.network.effective_sequence)),  // tokens that are computed
                   .global_batch = layout.global_batch,
                   .precision = precision_of(run, words),
                   .optimizer = optimizer_of(run.execution.optimizer)};
  if (words.gradients) plan.cluster.software.accumulate_bytes = real(plan.bytes(Numbers::Gradients).value());
  plan.mesh = {.data = small(layout.data),
               .pipeline = small(layout.pipeline),
               .tensor = small(layout.tensor),
               .context = small(layout.context),
               .expert = small(layout.expert)};
  if (layout.context > 1) plan.context_algorithm = context_of(layout);
  plan.vocabulary_multiple = run.network.vocabulary % layout.tensor == 0 ? layout.tensor : 128 * layout.tensor;
  plan.schedule = layout.pipeline > 1 ? layout.schedule : "1f1b";
  plan.chunks = small(layout.chunks);
  plan.cut = plan.model.convolution ? cut_of_children(layout, plan.model.layers) : cut_of(run);
  plan.microbatch_size = layout.micro_batch;
  const std::int64_t copies = layout.data * layout.context;
  plan.zero_stage = layout.zero_group == 1 && copies > 1 ? 0 : small(layout.zero_stage);  // a group of one shards nothing
  if (plan.zero_stage > 0) plan.mesh.replicas = small(copies / layout.zero_group);
  plan.reshard_after_forward = layout.reshard;
  if (plan.zero_stage == 3 && !layout.keeps_weights()) plan.accumulation = Accumulation::ReduceEach;  // shards of each microbatch are added
  const bool sums_whole = words.sums_whole.value_or(setting.stack.zero1_all_reduce);
  if (plan.zero_stage == 1 && sums_whole) plan.gradient_sync = GradientSync::AllReduce;
  if (words.fused_accumulation) plan.cluster.software.fused_accumulation = *words.fused_accumulation;
  plan.cuda_graphs = words.graphs;
  plan.microbatch_group = words.microbatch_group;
  plan.sequence_parallel = layout.sequence_parallel;
  const auto [what, scope] = recompute_of(run.execution);
  plan.recompute = what;
  plan.recompute_scope = scope;
  if (std::vector<Violation> found = violations(plan); !found.empty()) throw InputError("plan", std::move(found));
  return plan;
}

LoweredRow simulated_row(const RunDescription& run, const Setting& setting, const RowWords& words) {
  LoweredRow row{lowered_plan(run, setting, words), {}};
  row.result = simulate(make_model_graph(row.plan), row.plan);
  return row;
}

// Images are decoded on the host while the device computes the step before; a node whose other devices are idle clocks higher.
Seconds LoweredRow::step() const {
  const Seconds played = to_seconds(result.step_time);
  const double each = plan.cluster.software.images_per_worker;
  if (!plan.model.convolution || each <= 0 || !plan.cluster.hardware.kernels) return played;
  const Device device(plan.cluster.hardware);
  const double lone = plan.cluster.hardware.devices_per_node > 1 ? 1 : device.behavior.lone_host_gain;
  const double images = real(plan.workload.global_batch / plan.mesh.data);
  return std::max(played, Seconds(images / (each * device.kernels.loader_workers * lone)));
}

Seconds simulated_step(const RunDescription& run, const Setting& setting) { return simulated_row(run, setting).step(); }

CountedMemory counted_memory(const LoweredRow& row, const MemoryQuestion& asked) {
  const bool shows_reserved = habits_of(row.plan.cluster).shows_reserved;
  const MemoryCounter counter = asked.counter.value_or(shows_reserved ? MemoryCounter::Reserved : MemoryCounter::Device);
  const std::int32_t last = row.plan.mesh.pipeline - 1;
  CountedMemory memory;
  for (const DeviceResult& device : row.result.devices) {
    const std::int32_t stage = device.stage.value();
    const bool is_asked = asked.rank == AskedRank::Fullest || stage == (asked.rank == AskedRank::First ? 0 : last);
    if (is_asked) memory.shown = std::max(memory.shown, counted(counter, row.plan, device.at_peak));
    memory.needed = std::max(memory.needed, counted(MemoryCounter::Device, row.plan, device.at_peak));
  }
  return memory;
}

}  // namespace sim
