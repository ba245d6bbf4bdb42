// Compositions of products in 8 bit: scales that wait for the next step, and scales of this one, on which ranks with parts of what shares one agree.
#include "tests/parity/compositions.h"
#include "tests/parity/step_compositions.h"

#include "tests/parity/tiny_plans.h"

namespace parity {
namespace {

Composition with_whole_experts(Composition one) {
  one.sequence_parallel = true;
  one.mesh.expert_tensor = 1;
  return one;
}

// Of a scale for each microbatch, whoever computes with it.
std::vector<Composition> of_scales_that_ranks_share() {
  using enum sim::ScaleRecipe;
  using enum sim::Precision;
  using enum sim::ContextAlgorithm;
  constexpr auto kFull = sim::Recompute::Full;
  return {
      {.name = "D2E2_fp8_tensorwise", .mesh = {.data = 2, .expert = 2}, .precision = Bf16, .scales = Tensorwise, .experts = even()},
      {.name = "D2E2_recompute_fp8_rowwise", .mesh = {.data = 2, .expert = 2}, .recompute = kFull, .scales = Rowwise, .experts = even()},
      {.name = "D2E2_fp8_blockwise_reduce_each",
       .mesh = {.data = 2, .expert = 2},
       .accumulation = kEach,
       .precision = Bf16,
       .scales = Blockwise,
       .experts = even()},
      {.name = "D2E2P2_zb1p_fp8_tensorwise",
       .mesh = {.data = 2, .pipeline = 2, .expert = 2},
       .schedule = "zb-1p",
       .scales = Tensorwise,
       .experts = even()},
      {.name = "T2_experts_sequence_fp8_tensorwise",
       .mesh = {.tensor = 2},
       .sequence_parallel = true,
       .scales = Tensorwise,
       .experts = even()},
      {.name = "T2_experts_recompute_fp8_rowwise", .mesh = {.tensor = 2}, .recompute = kFull, .scales = Rowwise, .experts = even()},
      {.name = "D2E2T2_sequence_fp8_rowwise",
       .mesh = {.data = 2, .tensor = 2, .expert = 2},
       .sequence_parallel = true,
       .precision = Bf16,
       .scales = Rowwise,
       .experts = even()},
      with_whole_experts({.name = "E2T2_whole_experts_fp8_tensorwise",
                          .mesh = {.tensor = 2, .expert = 2},
                          .scales = Tensorwise,
                          .experts = all_experts()}),
      with_whole_experts({.name = "D2E4T2_whole_experts_recompute_fp8_rowwise",
                          .mesh = {.data = 2, .tensor = 2, .expert = 4},
                          .recompute = kFull,
                          .scales = Rowwise,
                          .experts = all_experts()}),
      {.name = "T2_one_key_head_fp8_tensorwise", .mesh = {.tensor = 2}, .scales = Tensorwise, .network = one_key_head},
      {.name = "T2_one_key_head_sequence_recompute_fp8_rowwise",
       .mesh = {.tensor = 2},
       .recompute = kFull,
       .sequence_parallel = true,
       .scales = Rowwise,
       .network = one_key_head},
      {.name = "T2_norms_of_all_heads_fp8_rowwise", .mesh = {.tensor = 2}, .scales = Rowwise, .network = norms_of_all_heads},
      {.name = "T2P2_norms_of_all_heads_zb1p_fp8_tensorwise",
       .mesh = {.pipeline = 2, .tensor = 2},
       .schedule = "zb-1p",
       .scales = Tensorwise,
       .network = norms_of_all_heads},
      {.name = "T2_adapters_fp8_tensorwise", .mesh = {.tensor = 2}, .scales = Tensorwise, .adapters = kAdapters},
      {.name = "D2T2_adapters_sequence_fp8_rowwise",
       .mesh = {.data = 2, .tensor = 2},
       .sequence_parallel = true,
       .precision = Bf16,
       .scales = Rowwise,
       .adapters = kAdapters},
      {.name = "C2_ring_fp8_tensorwise", .mesh = {.context = 2}, .scales = Tensorwise},
      {.name = "C2_all_to_all_recompute_fp8_rowwise",
       .mesh = {.context = 2},
       .recompute = kFull,
       .scales = Rowwise,
       .context_algorithm = AllToAll},
      {.name = "C2_all_gather_adapters_fp8_rowwise",
       .mesh = {.context = 2},
       .scales = Rowwise,
       .context_algorithm = AllGather,
       .adapters = kAdapters},
      {.name = "D2C2_ring_fp8_rowwise", .mesh = {.data = 2, .context = 2}, .precision = Bf16, .scales = Rowwise},
      {.name = "C2_latent_ring_fp8_delayed", .mesh = {.context = 2}, .scales = Delayed, .latent = true},
      {.name = "C2_latent_all_to_all_recompute_fp8_delayed",
       .mesh = {.context = 2},
       .recompute = kFull,
       .scales = Delayed,
       .context_algorithm = AllToAll,
       .latent = true},
      {.name = "P2_slices2_latent_fp8_delayed",
       .mesh = {.pipeline = 2},
       .schedule = "gpipe",
       .slices = 2,
       .scales = Delayed,
       .latent = true},
      {.name = "C2P2_zb1p_ring_fp8_tensorwise", .mesh = {.pipeline = 2, .context = 2}, .schedule = "zb-1p", .scales = Tensorwise},
  };
}

}  // namespace

// Products in 8 bit.
std::vector<Composition> of_scales() {
  using enum sim::ScaleRecipe;
  using enum sim::Precision;
  std::vector<Composition> all = {
      {.name = "D2_fp8_delayed", .mesh = {.data = 2}, .precision = Bf16, .scales = Delayed},
      {.name = "D2_fp8_tensorwise", .mesh = {.data = 2}, .precision = Bf16, .fp32_gradients = true, .scales = Tensorwise},
      {.name = "D2_fp8_rowwise_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .precision = Bf16, .scales = Rowwise},
      {.name = "D2_fp8_blockwise", .mesh = {.data = 2}, .precision = Bf16, .scales = Blockwise},
      {.name = "D2_latent_fp8_blockwise", .mesh = {.data = 2}, .scales = Blockwise, .latent = true},
      {.name = "P2_latent_fp8_delayed_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .scales = Delayed, .latent = true},
      {.name = "T2_fp8_delayed", .mesh = {.tensor = 2}, .scales = Delayed},
      {.name = "T2_sequence_recompute_fp8_delayed",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .sequence_parallel = true,
       .scales = Delayed},
      {.name = "T2_sequence_fp8_mx", .mesh = {.tensor = 2}, .sequence_parallel = true, .scales = Mx, .wide = true},
      {.name = "P2_fp8_delayed_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .scales = Delayed},
      {.name = "P2_fp8_blockwise_zbv", .mesh = {.pipeline = 2}, .schedule = "zbv", .chunks = 2, .scales = Blockwise},
      {.name = "C2_ring_fp8_delayed", .mesh = {.context = 2}, .scales = Delayed},
      {.name = "D2P2_fp8_tensorwise", .mesh = {.data = 2, .pipeline = 2}, .scales = Tensorwise},
      {.name = "D2T2_sequence_fp8_delayed",
       .mesh = {.data = 2, .tensor = 2},
       .sequence_parallel = true,
       .precision = Bf16,
       .scales = Delayed},
      {.name = "T2_fp8_tensorwise", .mesh = {.tensor = 2}, .scales = Tensorwise},
      {.name = "T2_fp8_rowwise", .mesh = {.tensor = 2}, .scales = Rowwise},
      {.name = "T2_sequence_recompute_fp8_tensorwise",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .sequence_parallel = true,
       .scales = Tensorwise},
      {.name = "T2_sequence_recompute_mlp_fp8_rowwise",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Selective,
       .sequence_parallel = true,
       .scales = Rowwise,
       .recompute_scope = "modules mlp"},
      {.name = "D2T2_sequence_fp8_rowwise",
       .mesh = {.data = 2, .tensor = 2},
       .sequence_parallel = true,
       .precision = Bf16,
       .scales = Rowwise},
      {.name = "T2P2_zb1p_fp8_tensorwise", .mesh = {.pipeline = 2, .tensor = 2}, .schedule = "zb-1p", .scales = Tensorwise},
      {.name = "T2P2_zbv_recompute_fp8_rowwise",
       .mesh = {.pipeline = 2, .tensor = 2},
       .schedule = "zbv",
       .chunks = 2,
       .recompute = sim::Recompute::Full,
       .scales = Rowwise},
      {.name = "D2_experts_fp8_tensorwise", .mesh = {.data = 2}, .precision = Bf16, .scales = Tensorwise, .experts = even()},
      {.name = "D2E2_fp8_delayed", .mesh = {.data = 2, .expert = 2}, .precision = Bf16, .scales = Delayed, .experts = even()},
      {.name = "P2_experts_fp8_rowwise_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .scales = Rowwise, .experts = even()},
      {.name = "T2_experts_sequence_fp8_delayed", .mesh = {.tensor = 2}, .sequence_parallel = true, .scales = Delayed, .experts = even()},
      {.name = "D2_adapters_fp8_rowwise", .mesh = {.data = 2}, .precision = Bf16, .scales = Rowwise, .adapters = kAdapters},
      {.name = "T2_adapters_fp8_delayed", .mesh = {.tensor = 2}, .scales = Delayed, .adapters = kAdapters},
      {.name = "P2_adapters_fp8_blockwise_zbv",
       .mesh = {.pipeline = 2},
       .schedule = "zbv",
       .chunks = 2,
       .scales = Blockwise,
       .adapters = kAdapters},
      {.name = "T2P2_slices2_gpipe_fp8_delayed", .mesh = {.pipeline = 2, .tensor = 2}, .schedule = "gpipe", .slices = 2, .scales = Delayed},
  };
  for (Composition& one : of_scales_that_ranks_share()) all.push_back(std::move(one));
  return all;
}

}  // namespace parity
