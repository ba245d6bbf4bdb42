#include <utility>

#include "tests/parity/step_compositions.h"

namespace parity {
namespace {

std::vector<Composition> with_optimizer_and_inputs_on_host() {
  using enum sim::Recompute;
  using enum sim::Precision;
  return {
      {.name = "D2_offload", .mesh = {.data = 2}, .offload_optimizer = true},
      {.name = "D2_offload_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .offload_optimizer = true},
      {.name = "D2_offload_bf16", .mesh = {.data = 2}, .precision = Bf16, .offload_optimizer = true},
      {.name = "P2_offload_interleaved", .mesh = {.pipeline = 2}, .schedule = "interleaved", .chunks = 2, .offload_optimizer = true},
      {.name = "D2_offload_inputs_recompute", .mesh = {.data = 2}, .recompute = Full, .offload_activations = true},
      {.name = "P2_offload_all_recompute_bf16",
       .mesh = {.pipeline = 2},
       .recompute = Full,
       .precision = Bf16,
       .offload_optimizer = true,
       .offload_activations = true},
      {.name = "P2_offload_inputs_zbv_recompute",
       .mesh = {.pipeline = 2},
       .schedule = "zbv",
       .chunks = 2,
       .recompute = Full,
       .offload_activations = true},
      {.name = "T2_offload_inputs_sequence_recompute",
       .mesh = {.tensor = 2},
       .recompute = Full,
       .sequence_parallel = true,
       .offload_activations = true},
      {.name = "D2P2_offload_all_recompute",
       .mesh = {.data = 2, .pipeline = 2},
       .recompute = Full,
       .offload_optimizer = true,
       .offload_activations = true},
      {.name = "T2_offload_sequence", .mesh = {.tensor = 2}, .sequence_parallel = true, .offload_optimizer = true},
      {.name = "D2P2_offload_zb1p", .mesh = {.data = 2, .pipeline = 2}, .schedule = "zb-1p", .offload_optimizer = true},
  };
}

// Stage 3, whose shards of weights and gradients lie on the host, too; one rank alone, and stages that have no copies, bring whole units.
std::vector<Composition> with_weights_on_host() {
  using enum sim::Precision;
  const auto on_host = [](Composition one) {
    one.zero_stage = 3;
    one.offload_optimizer = one.offload_parameters = true;
    one.accumulation = kEach;
    return one;
  };
  return {
      on_host({.name = "D1_weights_on_host_latent", .mesh = {}, .latent = true}),
      on_host({.name = "D1_weights_on_host_one_microbatch_bf16", .mesh = {}, .microbatch_size = 8, .precision = Bf16}),
      on_host({.name = "D2_weights_on_host", .mesh = {.data = 2}}),
      on_host({.name = "D2_weights_on_host_one_microbatch", .mesh = {.data = 2}, .microbatch_size = 4}),
      on_host({.name = "D2_weights_on_host_bf16_recompute", .mesh = {.data = 2}, .recompute = sim::Recompute::Full, .precision = Bf16}),
      on_host({.name = "D2_weights_on_host_fp16_units_of_2", .mesh = {.data = 2}, .precision = Fp16, .layers_per_unit = 2}),
      on_host({.name = "D2_weights_on_host_bf16_wire", .mesh = {.data = 2}, .precision = Bf16, .fp32_gradients = true, .wire = Bf16}),
      on_host({.name = "D2_weights_and_inputs_on_host_recompute",
               .mesh = {.data = 2},
               .recompute = sim::Recompute::Full,
               .offload_activations = true}),
      on_host({.name = "D2_weights_on_host_adapters", .mesh = {.data = 2}, .adapters = kAdapters}),
      on_host({.name = "D2_weights_on_host_adapters_nf4", .mesh = {.data = 2}, .adapters = "rank 3 alpha 5 on q,v,o,up,down base nf4"}),
      on_host({.name = "D2_weights_on_host_latent", .mesh = {.data = 2}, .latent = true}),
      on_host({.name = "C2_weights_on_host_ring", .mesh = {.context = 2}}),
      on_host({.name = "P2_weights_on_host_1f1b", .mesh = {.pipeline = 2}}),
      on_host({.name = "D2P2_weights_on_host_1f1b", .mesh = {.data = 2, .pipeline = 2}}),
      on_host({.name = "D2P2_weights_on_host_interleaved", .mesh = {.data = 2, .pipeline = 2}, .schedule = "interleaved", .chunks = 2}),
      on_host({.name = "D4R2_weights_on_host", .mesh = {.data = 4, .replicas = 2}}),
      on_host({.name = "D2E2_weights_on_host", .mesh = {.data = 2, .expert = 2}, .experts = even()}),
      on_host({.name = "D4E2_weights_on_host", .mesh = {.data = 4, .expert = 2}, .experts = even()}),
  };
}

}  // namespace

// What each module has saved; all, beside what is made again; the large ones.
std::vector<Composition> of_modules_on_host() {
  using enum sim::Recompute;
  constexpr const char* kAttention = "qkv_linear,core_attn,attn_proj";
  constexpr const char* kAll = "attn_norm,qkv_linear,core_attn,attn_proj,mlp_norm,expert_fc1,moe_act";
  return {
      {.name = "D1_modules_on_host", .mesh = {}, .offload_modules = kAttention},
      {.name = "D2_modules_on_host_core_attention", .mesh = {.data = 2}, .offload_modules = "core_attn,attn_proj"},
      {.name = "D2_modules_on_host_latent_large", .mesh = {.data = 2}, .offload_modules = kAll, .offload_least = 250, .latent = true},
      {.name = "D2_modules_on_host_fp8_delayed", .mesh = {.data = 2}, .scales = sim::ScaleRecipe::Delayed, .offload_modules = kAttention},
      {.name = "D2E2_paired_modules_on_host",
       .mesh = {.data = 2, .expert = 2},
       .expert_overlap = true,
       .offload_modules = kAll,
       .experts = even()},
      {.name = "D2_modules_on_host_bf16", .mesh = {.data = 2}, .precision = sim::Precision::Bf16, .offload_modules = kAttention},
      {.name = "D2_modules_on_host_recompute_norms",
       .mesh = {.data = 2},
       .recompute = Selective,
       .offload_modules = kAttention,
       .recompute_scope = "modules core_attn,layernorm"},
      {.name = "D2_modules_on_host_latent", .mesh = {.data = 2}, .offload_modules = kAll, .latent = true},
      {.name = "D2_modules_on_host_recompute_latent",
       .mesh = {.data = 2},
       .recompute = Selective,
       .offload_modules = kAll,
       .latent = true,
       .recompute_scope = "modules mla_up_proj,core_attn"},
      {.name = "D2E2_modules_on_host", .mesh = {.data = 2, .expert = 2}, .offload_modules = kAll, .experts = even()},
      {.name = "D2E2_modules_on_host_recompute_moe_activation",
       .mesh = {.data = 2, .expert = 2},
       .recompute = Selective,
       .offload_modules = kAll,
       .recompute_scope = "modules moe_act,shared_experts",
       .experts = even()},
      {.name = "D2_modules_on_host_documents", .mesh = {.data = 2}, .offload_modules = kAttention, .documents = true},
      {.name = "D2_modules_on_host_norms_of_heads", .mesh = {.data = 2}, .offload_modules = kAttention, .network = norms_behind_the_turn},
      {.name = "D2_modules_on_host_windows", .mesh = {.data = 2}, .offload_modules = kAttention, .network = windows_and_sinks},
      {.name = "T2_modules_on_host", .mesh = {.tensor = 2}, .offload_modules = kAttention},
      {.name = "T2_modules_on_host_one_key_head", .mesh = {.tensor = 2}, .offload_modules = kAttention, .network = one_key_head},
      {.name = "T2_modules_on_host_sequence", .mesh = {.tensor = 2}, .sequence_parallel = true, .offload_modules = kAttention},
      {.name = "P2_modules_on_host_gpipe", .mesh = {.pipeline = 2}, .schedule = "gpipe", .offload_modules = kAttention},
      {.name = "P2_modules_on_host_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .offload_modules = kAttention},
      {.name = "D2P2_modules_on_host_interleaved",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .offload_modules = kAttention},
      {.name = "D2E2P2_modules_on_host_later_head",
       .mesh = {.data = 2, .pipeline = 2, .expert = 2},
       .offload_modules = kAll,
       .delay_head_wgrad = 2,
       .experts = even()},
  };
}

// Of some microbatches, so that others' gradients come first, and of all.
std::vector<Composition> of_later_heads() {
  using enum sim::Recompute;
  return {
      {.name = "P2_later_head_1f1b", .mesh = {.pipeline = 2}, .delay_head_wgrad = 3},
      {.name = "P2_later_head_gpipe_of_all", .mesh = {.pipeline = 2}, .schedule = "gpipe", .delay_head_wgrad = 16},
      {.name = "P2_later_head_interleaved_recompute_bf16",
       .mesh = {.pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .recompute = Full,
       .precision = sim::Precision::Bf16,
       .delay_head_wgrad = 2},
      {.name = "P2_later_head_alone_two_samples", .mesh = {.pipeline = 2}, .microbatch_size = 2, .delay_head_wgrad = 2, .head_alone = true},
      {.name = "C2P2_later_head_ring", .mesh = {.pipeline = 2, .context = 2}, .delay_head_wgrad = 3},
      {.name = "D2P2_later_head_1f1b", .mesh = {.data = 2, .pipeline = 2}, .delay_head_wgrad = 2},
      {.name = "T2P2_later_head_1f1b", .mesh = {.pipeline = 2, .tensor = 2}, .delay_head_wgrad = 2},
      {.name = "T2P2_later_head_sequence_of_all", .mesh = {.pipeline = 2, .tensor = 2}, .sequence_parallel = true, .delay_head_wgrad = 16},
      {.name = "D2E2P2_later_head_1f1b", .mesh = {.data = 2, .pipeline = 2, .expert = 2}, .delay_head_wgrad = 3, .experts = even()},
  };
}

std::vector<Composition> of_host() {
  std::vector<Composition> all = with_optimizer_and_inputs_on_host();
  for (Composition& one : with_weights_on_host()) all.push_back(std::move(one));
  return all;
}

}  // namespace parity
