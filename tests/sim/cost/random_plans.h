// Plans drawn by a seeded generator, for properties that must hold for every plan: small models on a GPU cluster of four-device nodes or on
// the two-core machine, with any degrees, schedule, ZeRO stage, recomputation and accumulation that the rules allow.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "sim/units/random_bits.h"
#include "tests/sim/plan/plans.h"

namespace sim::testing {

inline HardwareProfile small_gpu() {
  HardwareProfile hardware;
  hardware.name = "test-gpu";
  hardware.kind = DeviceKind::Gpu;
  hardware.source = "invented for tests";
  hardware.date = "2026-01-01";
  hardware.memory = Bytes(std::int64_t{1} << 30);
  hardware.memory_bandwidth = BytesPerSecond(100e9);
  hardware.peak = {FlopsPerSecond(1e12), FlopsPerSecond(2e12), FlopsPerSecond(4e12), FlopsPerSecond(8e12), FlopsPerSecond(8e12)};
  hardware.matrix_efficiency = 0.7;
  hardware.kernel_overhead = Seconds(3e-6);
  hardware.devices_per_node = 4;
  hardware.overlaps_communication = true;
  hardware.intra_node = {.type = "nvlink", .latency = Seconds(2e-6), .bandwidth = BytesPerSecond(20e9)};
  hardware.inter_node = {.type = "infiniband", .latency = Seconds(5e-6), .bandwidth = BytesPerSecond(8e9)};
  return hardware;
}

// With kernels described, so that the clocks price it, and a program that overlaps or does not.
inline Cluster described(Cluster cluster, bool overlaps) {
  cluster.hardware.kernels = KernelTraits{};
  cluster.software.name = "test-program";
  cluster.software.overlap_reduce = cluster.software.overlap_tensor = overlaps;
  cluster.software.fused_norm = overlaps;
  return cluster;
}

class PlanGenerator {
 public:
  explicit PlanGenerator(std::uint64_t seed) : key_{seed} {}

  // Draws until the rules are kept.
  ParallelPlan next(DeviceKind kind) {
    for (;;) {
      const ParallelPlan plan = draw(kind);
      if (violations(plan).empty())
        return with_numbers_by_stage(with_predictions_apart(with_kernel(with_blocks(with_full_ends(with_frozen(with_copy(
            with_share(with_codecs(with_small_ones(with_two_levels(with_shared_heads(with_chosen_tokens(with_layers(plan))))))))))))));
    }
  }

  // With words, too, of what stands around the devices: drives, routers, managed memory, switches.
  ParallelPlan next_with_surroundings(DeviceKind kind) {
    return with_wider(with_residency(with_switch_sums(with_paged_moments(with_loads(with_drives(next(kind)))))));
  }
  // Of programs that people run, with words of whole steps.
  ParallelPlan next_of_programs(DeviceKind kind, std::span<const SoftwareStack> programs) {
    ParallelPlan plan = next_with_surroundings(kind);
    std::uint64_t drawn = random_bits(RandomKey{key_.value + 20}, programs_drawn_++);
    const auto one_in = [&](std::uint64_t ways) { return std::exchange(drawn, drawn / ways) % ways == 0; };
    const auto try_out = [&](auto change) {
      ParallelPlan other = plan;
      change(other);
      if (violations(other).empty()) plan = other;
    };
    const SoftwareStack& program = programs[programs_drawn_ % programs.size()];
    if (plan.cluster.hardware.kernels) try_out([&](ParallelPlan& one) { one.cluster.software = program; });
    if (one_in(2)) try_out([](ParallelPlan& one) { one.overlap_weight_gather = true; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.optimizer_in_backward = true, one.training.gradient_clip = 0; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.delay_head_wgrad = 2; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.post_validation = PostValidation::InPlace; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.post_validation = PostValidation::Copies; });
    if (one_in(2)) try_out([](ParallelPlan& one) { one.passes = 2; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.tensor_overlap = TensorOverlap::AlongProducts; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.tensor_overlap = TensorOverlap::Apart; });
    if (one_in(2)) try_out([](ParallelPlan& one) { one.reshard_after_backward = ReshardAfterBackward::Last; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.reshard_after_backward = ReshardAfterBackward::Each; });
    if (one_in(3)) try_out([](ParallelPlan& one) { one.tensor_overlap = TensorOverlap::BesideWeights; });
    return plan;
  }

 private:
  // Layers of other sorts, where the plan allows them; drawn apart, so that all else of a plan is drawn as without them.
  ParallelPlan with_layers(const ParallelPlan& plan) {
    const RandomKey key{key_.value + 1};
    const std::uint64_t drawn = random_bits(key, layers_drawn_++);
    if (drawn % 3 != 0 || plan.model.mtp_layers > 0) return plan;
    ParallelPlan other = plan;
    constexpr LinearRule kRules[] = {LinearRule::StateSpace, LinearRule::GatedDelta, LinearRule::ChannelDelta, LinearRule::Selective,
                                     LinearRule::ShortConvolution};
    other.model.linear = LinearForm{.rule = kRules[drawn / 3 % 5],
                                    .heads = 8,
                                    .groups = 4,
                                    .key = 16,
                                    .value = 8,
                                    .chunk = 16,
                                    .step_rank = 4,
                                    .scan_norms = drawn % 2 == 0 ? ScanNorms::Plain : ScanNorms::None,
                                    .beside = drawn % 4 == 1,
                                    .convolution_bias = drawn % 5 == 0};
    if (other.model.linear->is_of_channels()) other.model.linear->groups = 8, other.model.linear->value = 1;
    for (std::int64_t block = 0; block < plan.model.layers; ++block) other.model.linear_layers.push_back(block % 4 != 3);
    for (std::int64_t block = 0; drawn % 7 < 2 && block < plan.model.layers; ++block)
      other.model.halves.push_back(block % 2 == 0 ? BlockHalf::Mixer : BlockHalf::FeedForward);
    return violations(other).empty() ? other : plan;
  }
  // Of half of the plans that recompute the first blocks of each part: as many on the first stage, then none, then one; drawn apart, too.
  ParallelPlan with_numbers_by_stage(const ParallelPlan& plan) {
    if (plan.recompute_scope.first == 0 || plan.mesh.pipeline == 1 || random_bits(RandomKey{key_.value + 14}, numbers_drawn_++) % 2 > 0)
      return plan;
    ParallelPlan other = plan;
    other.recompute_scope.first = 0;
    for (std::int32_t stage = 0; stage < plan.mesh.pipeline; ++stage)
      other.recompute_scope.by_stage.push_back(stage == 0 ? plan.recompute_scope.first : 1 - stage % 2);
    return violations(other).empty() ? other : plan;
  }
  // Of latent attention a half attends to tokens that an indexer chooses; drawn apart, too.
  ParallelPlan with_chosen_tokens(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 6}, chosen_drawn_++);
    if (plan.model.attention.q_lora == 0 || drawn % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.model.attention.indexer = {.heads = 2, .width = 16, .topk = drawn / 2 % 2 > 0 ? 4 : 1000};
    return violations(other).empty() ? other : plan;
  }
  // Fewer key/value heads than tensor ranks; drawn apart, too.
  ParallelPlan with_shared_heads(const ParallelPlan& plan) {
    if (random_bits(RandomKey{key_.value + 2}, shared_drawn_++) % 3 != 0 || plan.model.attention.kind == AttentionKind::Latent) return plan;
    ParallelPlan other = plan;
    other.model.kv_heads = 1;
    return violations(other).empty() ? other : plan;
  }
  // Half of what exchanges heads, or sends blocks round a ring; and half of stage 3: drawn apart, too.
  ParallelPlan with_two_levels(const ParallelPlan& plan) {
    const bool may_have = plan.mesh.context == 4 && plan.context_algorithm != ContextAlgorithm::AllGather;
    if (!may_have || random_bits(RandomKey{key_.value + 4}, levels_drawn_++) % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.context_algorithm = ContextAlgorithm::Hierarchical;
    other.mesh.context_inner = 2;
    return violations(other).empty() ? other : plan;
  }
  ParallelPlan with_small_ones(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 5}, small_drawn_++);
    if (plan.zero_stage != 3 || drawn % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.persistence_threshold = drawn / 2 % 2 > 0 ? 100 : 5'000;
    return violations(other).empty() ? other : plan;
  }
  // Of an optimizer on the host; drawn apart, too.
  ParallelPlan with_share(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 7}, share_drawn_++);
    if (!plan.offload_optimizer || drawn % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.offload_share = drawn / 2 % 2 > 0 ? 0.3 : 0.75;
    return violations(other).empty() ? other : plan;
  }
  // What of the host lies on its drives, in half of the plans where something does; drawn apart, too.
  ParallelPlan with_drives(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 15}, drives_drawn_++);
    if (!plan.offload_optimizer || drawn % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.on_drive = plan.offload_parameters ? static_cast<OnDrive>(1 + drawn / 2 % 3) : OnDrive::Optimizer;
    return violations(other).empty() ? other : plan;
  }
  // How tokens meet experts, in four of five plans that have some; drawn apart, too.
  ParallelPlan with_loads(const ParallelPlan& plan) {
    constexpr std::string_view kLoads[] = {"", "even", "spread 0.6", "list 4 1 2 3", "untrained"};
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 16}, loads_drawn_++);
    if (!plan.model.experts) return plan;
    ParallelPlan other = plan;
    std::vector<Violation> wrong;
    other.workload.expert_loads = parse_expert_loads(kLoads[drawn % std::size(kLoads)], wrong);
    return violations(other).empty() ? other : plan;
  }
  // In a third of the plans that may have them; drawn apart, too.
  ParallelPlan with_paged_moments(const ParallelPlan& plan) {
    if (random_bits(RandomKey{key_.value + 17}, paged_drawn_++) % 3 > 0) return plan;
    ParallelPlan other = plan;
    other.paged_optimizer = true;
    return violations(other).empty() ? other : plan;
  }
  // Switches between nodes that add up, in half of the plans whose links are priced by clocks; drawn apart, too.
  ParallelPlan with_switch_sums(const ParallelPlan& plan) {
    if (!plan.cluster.hardware.kernels || random_bits(RandomKey{key_.value + 18}, sums_drawn_++) % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.cluster.hardware.inter_node.switch_sums = true;
    return violations(other).empty() ? other : plan;
  }
  // A wider stream, wider routers, a head in 8 bit, in half of the plans; drawn apart, too.
  ParallelPlan with_wider(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 20}, wider_drawn_++);
    if (drawn % 2 > 0) return plan;
    ParallelPlan wide = plan;
    const PrecisionPolicy policy = plan.workload.precision;
    const Precision routers = drawn / 8 % 2 > 0 ? Precision::Fp64 : Precision::Fp32;
    wide.workload.precision = drawn / 2 % 4 == 0                       ? policy.with(WideKind::Stream, Precision::Fp32)
                              : drawn / 2 % 4 == 1 || !policy.scales() ? policy.with(WideKind::Routers, routers)
                                                                       : policy.with_scaled_head();
    if (policy.compute() == Precision::Fp32 && wide.workload.precision.of(WideKind::Routers) == Precision::Fp32) return plan;
    if (policy.compute() != Precision::Fp32 && drawn / 16 % 2 > 0) {  // norms, too, where nothing forbids it
      ParallelPlan norms = violations(wide).empty() ? wide : plan;
      if (!norms.model.adapters) norms.model.frozen = norms.model.frozen.with(FrozenPart::Norms);
      norms.workload.precision = norms.workload.precision.with(WideKind::Norms, Precision::Fp32);
      if (violations(norms).empty()) return norms;
    }
    return violations(wide).empty() ? wide : plan;
  }
  // Inputs of modules on the host, and gradients of the head's weights behind the last backward; drawn apart, too.
  ParallelPlan with_residency(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 19}, residency_drawn_++);
    constexpr std::array kModules{Modules(Module::MlpNorm) | Module::QkvProduct | Module::AttentionNorm,
                                  Modules(Module::CoreAttention) | Module::ExpertProduct, kSentToHost};
    ParallelPlan other = plan;
    other.offload_modules = at(kModules, drawn % 3);
    other.offload_least = drawn / 3 % 2 > 0 ? 1'500 : 0;
    other.offload_blocks = drawn / 18 % 3 > 0 ? 0 : 1;
    if (!violations(other).empty()) other = plan;
    const ParallelPlan sent = other;
    if (plan.zero_stage <= 1) {  // what keeps most plans from it
      other.accumulation = Accumulation::ReduceLast;
      other.offload_optimizer = other.model.mtp_apart = false;
      other.on_drive = OnDrive::None;
      other.offload_share = 1;
      other.model.mtp_layers = 0;
    }
    other.delay_head_wgrad = static_cast<std::int32_t>(1 + drawn / 6 % 3);
    return violations(other).empty() ? other : sent;
  }
  // Of half of the plans whose neighbours keep weights; drawn apart, too.
  ParallelPlan with_copy(const ParallelPlan& plan) {
    if (plan.mesh.reshard == 1 || random_bits(RandomKey{key_.value + 8}, copy_drawn_++) % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.kept_until = KeptUntil::Step;
    return violations(other).empty() ? other : plan;
  }
  // Parts that are not trained, in a third of the plans; drawn apart, too.
  ParallelPlan with_frozen(const ParallelPlan& plan) {
    constexpr std::string_view kParts[] = {"norms",   "embedding",         "first 1",       "first 2",
                                           "first 4", "attention first 3", "embedding,mlp", "attention"};
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 9}, frozen_drawn_++);
    if (drawn % 3 > 0) return plan;
    ParallelPlan other = plan;
    std::vector<Violation> wrong;
    other.model.frozen = parse_frozen_parts(kParts[drawn / 3 % 8], wrong);
    return violations(other).empty() ? other : plan;
  }
  // Ends in full precision, of half of the plans in 16 bit; drawn apart, too.
  ParallelPlan with_full_ends(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 10}, ends_drawn_++);
    if (drawn % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.model.tied_embeddings = false;
    if (drawn / 2 % 3 != 1) other.workload.precision = other.workload.precision.with_full(EndUnit::Head);
    if (drawn / 2 % 3 != 0) other.workload.precision = other.workload.precision.with_full(EndUnit::Embedding);
    return violations(other).empty() ? other : plan;
  }
  // Blocks in full precision, or without scales beside others that have them, or parts of blocks, likewise.
  ParallelPlan with_blocks(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 12}, blocks_drawn_++);
    if (drawn % 2 > 0) return plan;
    const auto first = static_cast<std::int32_t>(drawn / 2 % static_cast<std::uint64_t>(plan.model.layers));
    ParallelPlan other = plan;
    const BlockRanges block{{first, first}};
    const PrecisionPolicy policy = plan.workload.precision;
    other.workload.precision = !policy.scales()      ? policy.with_full(block)
                               : drawn / 64 % 2 == 0 ? policy.with_unscaled(block)
                                                     : policy.with_unscaled(ProductParts().with(static_cast<ProductPart>(drawn / 128 % 4)));
    return violations(other).empty() ? other : plan;
  }
  // A kernel of attention by name, in half of the plans that are priced by clocks; drawn apart, too.
  ParallelPlan with_kernel(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 11}, kernels_drawn_++);
    if (drawn % 2 > 0) return plan;
    ParallelPlan other = plan;
    other.attention = static_cast<AttentionWord>(drawn / 2 % std::size(kAttentionWords));
    return violations(other).empty() ? other : plan;
  }
  // What predicts further tokens as a layer of its own, in two of three plans that have it: on the head's stage, in front of it, or alone; drawn apart, too.
  ParallelPlan with_predictions_apart(const ParallelPlan& plan) {
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 13}, apart_drawn_++);
    if (plan.model.mtp_layers == 0 || drawn % 3 == 0) return plan;
    ParallelPlan other = plan;
    other.model.mtp_apart = true;
    other.model.tied_embeddings = false;
    other.cut = even_cut(other.model.inner_layers(), other.pipeline_shape());
    std::vector<LayerIndex>& first = other.cut.first;
    if (first.size() > 1 && drawn / 3 % 3 > 0) first.back() = other.head();
    if (first.size() > 2 && drawn / 3 % 3 > 1) first[first.size() - 2] = other.predicting();
    return violations(other).empty() ? other : plan;
  }
  // What travels, encoded; drawn apart, too.
  ParallelPlan with_codecs(const ParallelPlan& plan) {
    constexpr Codec kCodecs[] = {Codec::None, Codec::Fp8, Codec::Int8, Codec::Int4, Codec::PowerSgd};
    const std::uint64_t drawn = random_bits(RandomKey{key_.value + 3}, codecs_drawn_++);
    const Codec codec = kCodecs[drawn % 5];
    ParallelPlan other = plan;
    other.workload.precision =
        plan.workload.precision.with_gradient_codec({codec, codec == Codec::PowerSgd ? static_cast<std::int32_t>(1 + drawn / 5 % 4) : 0});
    if (codec != Codec::None && !violations(other).empty()) other = plan;
    ParallelPlan both = other;
    both.workload.precision = other.workload.precision.with_weight_codec({Codec::Int8, 0});
    return drawn / 32 % 2 == 0 && violations(both).empty() ? both : other;
  }
  std::uint64_t bits() { return random_bits(key_, drawn_++); }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[bits() % values.size()];
  }
  bool coin() { return bits() % 2 == 0; }

  ParallelPlan draw(DeviceKind kind) {
    DeviceMesh mesh{.data = one_of({1, 2, 4}), .pipeline = one_of({1, 2, 4}), .tensor = one_of({1, 2})};
    mesh.context = one_of({1, 1, 2, 4});
    if (mesh.copies() >= 4) mesh.replicas = one_of({1, 2});
    if (mesh.shards() >= 4) mesh.reshard = one_of({1, 2});
    ParallelPlan plan = tiny_plan(mesh);
    plan.context_algorithm = one_of({ContextAlgorithm::Ring, ContextAlgorithm::AllGather, ContextAlgorithm::AllToAll});
    if (coin()) plan.model = tiny_llama();
    if (one_of({0, 0, 1}) == 1) {
      plan.model.experts = ExpertForm{.experts = 4,
                                      .topk = 2,
                                      .expert_ffn = 96,
                                      .shared_ffn = one_of({0, 64}),
                                      .first_dense_layers = one_of({0, 1}),
                                      .forced_balance = coin()};
      plan.mesh.expert = one_of({1, 2, 4});
    }
    if (plan.model.model_type == "llama" && one_of({0, 0, 1}) == 1) {
      plan.model.attention = {
          .kind = AttentionKind::Latent, .q_lora = one_of({0, 24}), .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 16};
      plan.model.kv_heads = plan.model.heads;
      plan.model.head_dim = 20;
    }
    plan.model.residual_dropout = one_of({0.0, 0.1});
    plan.model.mtp_layers = one_of({0, 0, 1, 2});
    plan.schedule = one_of({"gpipe", "1f1b", "interleaved", "zb-1p", "zb-2p", "zbv", "v-half", "v-min", "looped-bfs", "dualpipev"});
    plan.chunks =
        plan.schedule == "interleaved" || plan.schedule == "looped-bfs" || find_schedule(plan.schedule)->placement == ChunkPlacement::V ? 2
                                                                                                                                        : 1;
    plan.model.layers = one_of({4, 8});
    plan.cut = even_cut(plan.model.layers, {.stages = mesh.pipeline, .microbatches = 1, .chunks = plan.chunks});
    plan.workload.global_batch = one_of({8, 16});
    plan.microbatch_size = one_of({1, 2});
    plan.zero_stage = one_of({0, 1, 2, 3});
    plan.reshard_after_forward = coin();
    plan.prefetch = one_of({0, 1, 2, 3});
    plan.layers_per_unit = one_of({1, 1, 2, 3});
    plan.bucket_size = Bytes(one_of({20'000, 200'000, 4'000'000}));
    plan.accumulation = one_of({Accumulation::ReduceLast, Accumulation::ReduceEach});
    plan.recompute = one_of({Recompute::None, Recompute::Full});
    plan.sequence_parallel = mesh.tensor > 1 && coin();
    if (plan.model.experts && coin()) plan.mesh.expert_tensor = one_of({1, 2});
    if (plan.model.experts && plan.mesh.expert > 1 && (plan.zero_stage < 3 || plan.reshard_after_forward) && coin())
      plan.expert_overlap = true, plan.delay_wgrad = plan.workload.global_batch == 16, plan.recompute = Recompute::None;
    if (plan.model.experts && plan.mesh.moves_tokens())
      plan.token_dispatcher = one_of({TokenDispatcher::AsTheProgram, TokenDispatcher::AllToAll, TokenDispatcher::Hierarchical,
                                      plan.expert_overlap ? TokenDispatcher::AllToAll : TokenDispatcher::AllGather});
    plan.offload_optimizer = one_of({false, false, true});
    plan.offload_activations = plan.recompute == Recompute::Full && plan.microbatch_size == 1;
    if (kind == DeviceKind::Gpu) {
      plan.cluster.hardware = small_gpu();
      plan.workload.precision = one_of({Precision::Bf16, Precision::Fp32});
      if (coin()) plan.cluster = described(plan.cluster, coin());
      if (one_of({0, 0, 1}) == 1) plan.workload.precision = kept_apart();
      if (plan.cluster.hardware.kernels && plan.workload.precision.compute() == Precision::Bf16 && one_of({0, 0, 1}) == 1)
        multiply_in_8_bit(plan, coin());
    }
    if (plan.zero_stage == 3 && plan.offload_optimizer && coin()) plan.offload_parameters = true;
    if (coin()) plan.first_bucket_size = Bytes(10'000);
    if (one_of({0, 0, 0, 1}) == 1) plan.workload.optimizer = one_of({OptimizerKind::AdamW8bit, OptimizerKind::Adafactor});
    if (plan.zero_stage <= 1 && !plan.offload_optimizer && one_of({0, 0, 1}) == 1) plan.workload.optimizer = OptimizerKind::Muon;
    if (plan.schedule == "interleaved" && coin()) plan.microbatch_group = static_cast<std::int32_t>(plan.num_microbatches());
    if (one_of({0, 0, 1}) == 1 && !plan.offload_activations) draw_scope(plan);
    if (mesh.pipeline > 1 && one_of({0, 0, 1}) == 1) leave_ends_alone(plan);
    if (plan.zero_stage == 1 && plan.accumulation == Accumulation::ReduceLast)
      plan.gradient_sync = one_of({GradientSync::Scatter, GradientSync::AllReduce});
    deal_tensors(plan, random_bits(key_, drawn_ + (std::uint64_t{1} << 40)));
    if (kind == DeviceKind::Gpu && coin()) plan.cuda_graphs = CudaGraphs::PerLayer;
    if (kind == DeviceKind::Gpu && one_of({0, 0, 1}) == 1) {
      const std::int32_t nodes = one_of({1, 2});
      plan.cluster.hardware.inter_node.pods = {{.nodes = nodes, .oversubscription = 3}};
      if (nodes == 1) plan.cluster.hardware.inter_node.pods.push_back({.nodes = 2, .oversubscription = 5});
    }
    return plan;
  }

  // Drawn apart: the other fields of plans stay what they were.
  static void deal_tensors(ParallelPlan& plan, std::uint64_t drawn) {
    if (plan.zero_stage == 2 && !plan.workload.precision.gradient_codec() && drawn % 5 == 0) plan.gradient_sync = GradientSync::AllReduce;
    if ((plan.zero_stage != 1 && plan.zero_stage != 2) || drawn % 3 > 0) return;
    plan.state_shards = StateShards::Tensors;
    plan.offload_optimizer = false;
    if (plan.mesh.replicas > 1 && plan.gradient_sync == GradientSync::Scatter) plan.mesh.replicas = 1;
    if (plan.workload.precision.gathers_scaled()) return;
    if (drawn / 3 % 2 > 0) plan.weight_sync = WeightSync::Broadcast;
    if (plan.workload.precision.of(Numbers::Weights) == Precision::Fp32 && drawn / 6 % 2 > 0) plan.weight_sync = WeightSync::BroadcastFp16;
  }

  static void multiply_in_8_bit(ParallelPlan& plan, bool gathers) {
    plan.cluster.hardware.kernels->fp8_peak = FlopsPerSecond(16e12);
    plan.cluster.software.gathers_fp8 = gathers;
    plan.workload.precision = plan.workload.precision.with(ScaleRecipe::Tensorwise, gathers);
  }

  // The head by itself; behind a part without a layer, where that may be, and an embedding by itself.
  static void leave_ends_alone(ParallelPlan& plan) {
    std::vector<LayerIndex>& first = plan.cut.first;
    const LayerIndex head(static_cast<std::int32_t>(plan.model.layers) + 1);
    first.back() = head;
    if (first.size() < 4 || plan.chunks > 1) return;
    first[first.size() - 2] = head;
    first[1] = LayerIndex(1);
  }

  void draw_scope(ParallelPlan& plan) {
    if (plan.recompute == Recompute::Full) {
      plan.recompute_scope = {.first = one_of({0, 1, 2}), .every = one_of({1, 2}), .but_last = coin()};
      return;
    }
    plan.recompute = Recompute::Selective;
    for (std::size_t module = 0; module < kNumRecomputed; ++module)
      if (one_of({0, 0, 1}) == 1) plan.recompute_scope.modules = plan.recompute_scope.modules | static_cast<Module>(module);
  }

  // Every kind of number in a type that does not follow from another's.
  static PrecisionPolicy kept_apart() {
    const PrecisionPolicy summed = PrecisionPolicy(Precision::Bf16).with(Numbers::Gradients, Precision::Fp32);
    return summed.with(Numbers::Wire, Precision::Bf16).with(Numbers::Masters, Precision::Bf16).with(Numbers::Moments, Precision::Fp16);
  }

  RandomKey key_;
  std::uint64_t drawn_ = 0, layers_drawn_ = 0, shared_drawn_ = 0, codecs_drawn_ = 0, levels_drawn_ = 0, small_drawn_ = 0, chosen_drawn_ = 0,
                share_drawn_ = 0, copy_drawn_ = 0, frozen_drawn_ = 0, ends_drawn_ = 0, blocks_drawn_ = 0, kernels_drawn_ = 0,
                numbers_drawn_ = 0, apart_drawn_ = 0, drives_drawn_ = 0, loads_drawn_ = 0, paged_drawn_ = 0, sums_drawn_ = 0,
                residency_drawn_ = 0, wider_drawn_ = 0, programs_drawn_ = 0;
};

inline std::string context_text(const ParallelPlan& plan) {
  const std::string latent =
      plan.model.attention.kind == AttentionKind::Latent ? plan.model.attention.is_sparse() ? " chosen" : " latent" : "";
  const std::string experts =
      latent + (plan.model.experts ? " E" + std::to_string(plan.mesh.expert) + "x" + std::to_string(plan.mesh.expert_cut()) + " of 4" : "");
  if (plan.mesh.context == 1) return experts;
  return experts + " C" + std::to_string(plan.mesh.context) + " " +
         std::string(kContextAlgorithmNames[static_cast<std::size_t>(plan.context_algorithm)]);
}

inline std::string describe(const ParallelPlan& plan) {
  return std::string(kDeviceKindNames[static_cast<std::size_t>(plan.cluster.hardware.kind)]) + " D" + std::to_string(plan.mesh.data) +
         " P" + std::to_string(plan.mesh.pipeline) + " T" + std::to_string(plan.mesh.tensor) + context_text(plan) + " " + plan.schedule +
         " zero" + std::to_string(plan.zero_stage) + (plan.sequence_parallel ? " sp" : "") +
         (plan.recompute == Recompute::None ? "" : " recompute (" + to_text(plan.recompute_scope) + ")") +
         (plan.accumulation == Accumulation::ReduceEach ? " each" : " last") + " prefetch " + std::to_string(plan.prefetch) +
         (plan.reshard_after_forward ? " reshard" : "") + (plan.offload_optimizer ? " host" : "") +
         (plan.offload_parameters ? " weights" : "") + (plan.offload_activations ? " inputs" : "") +
         (plan.offload_modules.none() ? "" : " inputs of " + to_text(plan.offload_modules)) + " later heads " +
         std::to_string(plan.delay_head_wgrad) + (plan.overlap_weight_gather ? " gathers beside" : "") +
         (plan.optimizer_in_backward ? " steps back" : "") + " " + std::string(at(kPostValidationNames, plan.post_validation)) +
         " drives " + std::string(kOnDriveNames[static_cast<std::size_t>(plan.on_drive)]) + (plan.paged_optimizer ? " paged" : "") +
         " loads (" + to_text(plan.workload.expert_loads) + ")" +
         (plan.cluster.hardware.inter_node.switch_sums ? " sums in the switch" : "") + " unit" + std::to_string(plan.layers_per_unit) +
         " near" + std::to_string(plan.mesh.reshard) + (plan.kept_until == KeptUntil::Step ? " copy" : "") + " m" +
         std::to_string(plan.num_microbatches()) +
         (plan.state_shards == StateShards::Tensors ? " owners " + std::string(at(kWeightSyncNames, plan.weight_sync)) : "") + " mtp" +
         std::to_string(plan.model.mtp_layers) + (plan.model.mtp_apart ? " apart" : "") + " frozen (" + to_text(plan.model.frozen) + ") " +
         plan.model.model_type + " " + to_text(plan.workload.precision) + " " + std::string(at(kAttentionWords, plan.attention)) +
         (plan.cluster.hardware.kernels ? plan.cluster.software.overlap_reduce ? " described, overlaps" : " described" : "");
}

}  // namespace sim::testing
