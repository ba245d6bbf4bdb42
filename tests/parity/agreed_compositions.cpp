// Compositions of products in 8 bit whose ranks ask each other inside computations: what tensor, context and expert ranks each have a part of, one beside another.
#include "tests/parity/compositions.h"
#include "tests/parity/step_compositions.h"

namespace parity {
namespace {

Composition routing_apart(Composition one) {
  one.sequence_parallel = true;
  one.mesh.expert_tensor = 1;
  return one;
}

Composition taking_turns(Composition one) {
  one.expert_overlap = true;
  return one;
}

// Tiles of 128 stay whole on two tensor ranks, but for what leads down, which each has whole.
sim::ModelConfig wide_latent() {
  sim::ModelConfig model = tiny_deepseek();
  model.hidden = model.ffn = 256;
  model.attention.qk_nope = model.attention.qk_rope = model.attention.v_dim = 64;
  return model;
}

sim::ModelConfig for_long_samples(sim::ModelConfig model) {
  model.max_positions = 128;
  model.attention_dropout = 0;
  return model;
}
sim::ModelConfig long_gpt2() { return for_long_samples(tiny_gpt2()); }
sim::ModelConfig long_wide_gpt2() {  // tiles of 32 stay whole on two tensor ranks
  sim::ModelConfig model = long_gpt2();
  model.hidden = 64, model.head_dim = 16, model.ffn = 128;
  return model;
}

std::vector<Composition> of_scaled_latent() {
  using enum sim::ScaleRecipe;
  return {
      {.name = "T2_latent_fp8_delayed", .mesh = {.tensor = 2}, .scales = Delayed, .latent = true},
      {.name = "T2_latent_sequence_recompute_fp8_tensorwise",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .sequence_parallel = true,
       .scales = Tensorwise,
       .latent = true},
      {.name = "T2_latent_recompute_up_fp8_tensorwise",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Selective,
       .scales = Tensorwise,
       .latent = true,
       .recompute_scope = "modules mla_up_proj"},
      {.name = "T2_wide_latent_sequence_fp8_blockwise",
       .mesh = {.tensor = 2},
       .sequence_parallel = true,
       .scales = Blockwise,
       .network = wide_latent},
      {.name = "T2P2_latent_zb1p_fp8_rowwise",
       .mesh = {.pipeline = 2, .tensor = 2},
       .schedule = "zb-1p",
       .scales = Rowwise,
       .latent = true},
      {.name = "D2T2_latent_fp8_tensorwise",
       .mesh = {.data = 2, .tensor = 2},
       .precision = sim::Precision::Bf16,
       .scales = Tensorwise,
       .latent = true},
      {.name = "C2_latent_ring_fp8_tensorwise", .mesh = {.context = 2}, .scales = Tensorwise, .latent = true},
      {.name = "C2T2_latent_ring_sequence_fp8_rowwise",
       .mesh = {.tensor = 2, .context = 2},
       .sequence_parallel = true,
       .scales = Rowwise,
       .latent = true},
  };
}

// 48 tokens are two tiles of 32, of which each rank has parts; 128 are four, of which each has two.
std::vector<Composition> of_tiles_of_tokens() {
  using enum sim::ScaleRecipe;
  return {
      {.name = "C2_ring_fp8_blockwise", .mesh = {.context = 2}, .scales = Blockwise},
      {.name = "C2_ring_cut_tiles_fp8_mx", .mesh = {.context = 2}, .scales = Mx, .sequence = 48, .network = long_gpt2},
      {.name = "C2_ring_whole_tiles_fp8_mx", .mesh = {.context = 2}, .scales = Mx, .sequence = 128, .network = long_gpt2},
      {.name = "C2_all_to_all_recompute_fp8_mx",
       .mesh = {.context = 2},
       .recompute = sim::Recompute::Full,
       .scales = Mx,
       .context_algorithm = sim::ContextAlgorithm::AllToAll,
       .sequence = 48,
       .network = long_gpt2},
      {.name = "D2C2_ring_fp8_blockwise", .mesh = {.data = 2, .context = 2}, .precision = sim::Precision::Bf16, .scales = Blockwise},
      {.name = "C2P2_zb1p_ring_fp8_blockwise", .mesh = {.pipeline = 2, .context = 2}, .schedule = "zb-1p", .scales = Blockwise},
      {.name = "C2T2_ring_sequence_fp8_mx",
       .mesh = {.tensor = 2, .context = 2},
       .sequence_parallel = true,
       .scales = Mx,
       .sequence = 48,
       .network = long_wide_gpt2},
  };
}

std::vector<Composition> of_several_axes() {
  using enum sim::ScaleRecipe;
  return {
      {.name = "C2T2_ring_sequence_fp8_tensorwise", .mesh = {.tensor = 2, .context = 2}, .sequence_parallel = true, .scales = Tensorwise},
      {.name = "C2T2_all_gather_recompute_fp8_rowwise",
       .mesh = {.tensor = 2, .context = 2},
       .recompute = sim::Recompute::Full,
       .scales = Rowwise,
       .context_algorithm = sim::ContextAlgorithm::AllGather},
      {.name = "C2_experts_fp8_rowwise", .mesh = {.context = 2}, .scales = Rowwise, .experts = all_experts()},
      {.name = "C2E2_fp8_tensorwise", .mesh = {.context = 2, .expert = 2}, .scales = Tensorwise, .experts = all_experts()},
      {.name = "D2C2_experts_fp8_tensorwise", .mesh = {.data = 2, .context = 2}, .scales = Tensorwise, .experts = all_experts()},
      {.name = "D2C2E2_recompute_fp8_rowwise",
       .mesh = {.data = 2, .context = 2, .expert = 2},
       .recompute = sim::Recompute::Full,
       .scales = Rowwise,
       .experts = all_experts()},
      {.name = "D2C2E4_fp8_tensorwise", .mesh = {.data = 2, .context = 2, .expert = 4}, .scales = Tensorwise, .experts = all_experts()},
      routing_apart({.name = "T2_whole_experts_fp8_tensorwise", .mesh = {.tensor = 2}, .scales = Tensorwise, .experts = all_experts()}),
      routing_apart(
          {.name = "D2T2_whole_experts_fp8_rowwise", .mesh = {.data = 2, .tensor = 2}, .scales = Rowwise, .experts = all_experts()}),
      {.name = "E2T4_cut_experts_sequence_fp8_tensorwise",
       .mesh = {.tensor = 4, .expert = 2, .expert_tensor = 2},
       .sequence_parallel = true,
       .scales = Tensorwise,
       .latent = true,
       .experts = all_experts()},
  };
}

std::vector<Composition> of_scaled_orders() {
  using enum sim::ScaleRecipe;
  return {
      taking_turns({.name = "D2E2_paired_fp8_tensorwise", .mesh = {.data = 2, .expert = 2}, .scales = Tensorwise, .experts = even()}),
      taking_turns(routing_apart({.name = "E2T2_paired_whole_experts_fp8_rowwise",
                                  .mesh = {.tensor = 2, .expert = 2},
                                  .scales = Rowwise,
                                  .experts = all_experts()})),
      taking_turns({.name = "D2E2T2_paired_delayed_sequence_fp8_tensorwise",
                    .mesh = {.data = 2, .tensor = 2, .expert = 2},
                    .sequence_parallel = true,
                    .delay_wgrad = true,
                    .scales = Tensorwise,
                    .experts = even()}),
      {.name = "T2_recompute_shared_fp8_tensorwise",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Selective,
       .scales = Tensorwise,
       .recompute_scope = "modules shared_experts",
       .experts = even()},
      {.name = "P2_slices2_1f1b_fp8_tensorwise", .mesh = {.pipeline = 2}, .slices = 2, .scales = Tensorwise},
      {.name = "P2_slices2_gpipe_fp8_blockwise", .mesh = {.pipeline = 2}, .schedule = "gpipe", .slices = 2, .scales = Blockwise},
      {.name = "T2_slices2_fp8_rowwise", .mesh = {.tensor = 2}, .slices = 2, .scales = Rowwise},
  };
}

// Of the source's rows, and of the target's.
std::vector<Composition> of_scaled_encoders() {
  using enum sim::ScaleRecipe;
  return {
      {.name = "D2_encoder_fp8_delayed", .mesh = {.data = 2}, .precision = sim::Precision::Bf16, .scales = Delayed, .network = tiny_bart},
      {.name = "T2_encoder_fp8_tensorwise", .mesh = {.tensor = 2}, .scales = Tensorwise, .network = tiny_mbart},
      {.name = "T2_encoder_distances_recompute_fp8_rowwise",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .scales = Rowwise,
       .network = tiny_t5},
      {.name = "P2_encoder_zb1p_fp8_rowwise", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .scales = Rowwise, .network = tiny_mbart},
      {.name = "P2_encoder_1f1b_fp8_blockwise", .mesh = {.pipeline = 2}, .scales = Blockwise, .network = tiny_bart},
  };
}

}  // namespace

std::vector<Composition> of_agreed_scales() {
  std::vector<Composition> all;
  for (const auto& some : {of_scaled_latent(), of_tiles_of_tokens(), of_several_axes(), of_scaled_orders(), of_scaled_encoders()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace parity
