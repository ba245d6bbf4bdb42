#include "tests/parity/step_compositions.h"

namespace parity {

namespace {

// Blocks of four, where their streams meet those of others, ends of the network, other stages, and each other.
std::vector<Composition> of_full_blocks() {
  using enum sim::Recompute;
  using enum sim::Precision;
  constexpr auto kSecond = "blocks:1=fp32", kOuter = "blocks:0,3=fp32", kInner = "blocks:1-2=fp32";
  return {
      {.name = "D2_full_block_bf16", .mesh = {.data = 2}, .precision = Bf16, .full_units = kSecond},
      {.name = "D2_full_all_bf16", .mesh = {.data = 2}, .precision = Bf16, .full_units = "embedding=fp32 head=fp32 blocks:0-3=fp32"},
      {.name = "D2_full_blocks_recompute_fp16", .mesh = {.data = 2}, .recompute = Full, .precision = Fp16, .full_units = kOuter},
      {.name = "D2_full_blocks_recompute_mlp_bf16",
       .mesh = {.data = 2},
       .recompute = Selective,
       .precision = Bf16,
       .full_units = kOuter,
       .recompute_scope = "modules mlp"},
      {.name = "D2_full_blocks_recompute_norms_bf16",
       .mesh = {.data = 2},
       .recompute = Selective,
       .precision = Bf16,
       .full_units = kInner,
       .recompute_scope = "modules layernorm"},
      {.name = "D2_full_blocks_unit_2_reduce_each_bf16",
       .mesh = {.data = 2},
       .accumulation = kEach,
       .precision = Bf16,
       .fp32_gradients = true,
       .wire = Bf16,
       .full_units = kSecond,
       .layers_per_unit = 2},
      {.name = "D2_full_blocks_offload_bf16",
       .mesh = {.data = 2},
       .recompute = Full,
       .precision = Bf16,
       .full_units = kInner,
       .offload_optimizer = true,
       .offload_activations = true},
      {.name = "D2_full_blocks_latent_bf16", .mesh = {.data = 2}, .precision = Bf16, .full_units = kOuter, .latent = true},
      {.name = "T2_full_blocks_bf16", .mesh = {.tensor = 2}, .precision = Bf16, .full_units = kOuter},
      {.name = "T2_full_blocks_sequence_recompute_bf16",
       .mesh = {.tensor = 2},
       .recompute = Full,
       .sequence_parallel = true,
       .precision = Bf16,
       .full_units = kInner},
      {.name = "P2_full_blocks_1f1b_bf16", .mesh = {.pipeline = 2}, .precision = Bf16, .full_units = kInner},
      {.name = "P2_full_blocks_zb1p_bf16",
       .mesh = {.pipeline = 2},
       .schedule = "zb-1p",
       .precision = Bf16,
       .full_units = kInner,
       .network = tiny_llama},
      {.name = "P2_full_blocks_slices_bf16", .mesh = {.pipeline = 2}, .slices = 2, .precision = Bf16, .full_units = kInner},
      {.name = "C2_full_blocks_ring_bf16", .mesh = {.context = 2}, .precision = Bf16, .full_units = kInner, .network = tiny_llama},
      {.name = "D2E2_full_blocks_bf16",
       .mesh = {.data = 2, .expert = 2},
       .precision = Bf16,
       .full_units = kInner,
       .experts = tiny_mixtral().experts},
      {.name = "D4_full_blocks_near_2_bf16", .mesh = {.data = 4, .reshard = 2}, .precision = Bf16, .full_units = kSecond},
      {.name = "D2P2_full_blocks_recompute_bf16",
       .mesh = {.data = 2, .pipeline = 2},
       .recompute = Full,
       .precision = Bf16,
       .full_units = kOuter},
      {.name = "D2T2_full_blocks_sequence_bf16",
       .mesh = {.data = 2, .tensor = 2},
       .sequence_parallel = true,
       .precision = Bf16,
       .full_units = kSecond},
  };
}

// Blocks, or parts of all blocks, without scales beside others that have them, where tensor ranks agree on scales, and where they do not.
std::vector<Composition> of_unscaled_products() {
  using enum sim::ScaleRecipe;
  constexpr auto kEnds = "blocks:0,3=fp32", kInner = "blocks:1-2=fp32";
  return {
      {.name = "D2_fp8_tensorwise_ends_bf16",
       .mesh = {.data = 2},
       .precision = sim::Precision::Bf16,
       .scales = Tensorwise,
       .full_units = "blocks:0,3=bf16"},
      {.name = "P2_fp8_blockwise_ends_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .scales = Blockwise, .full_units = kEnds},
      {.name = "T2_sequence_recompute_fp8_rowwise_inner",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .sequence_parallel = true,
       .scales = Rowwise,
       .full_units = kInner},
      {.name = "T2P2_fp8_tensorwise_ends", .mesh = {.pipeline = 2, .tensor = 2}, .scales = Tensorwise, .full_units = kEnds},
      {.name = "D2_fp8_tensorwise_attention_bf16",
       .mesh = {.data = 2},
       .precision = sim::Precision::Bf16,
       .scales = Tensorwise,
       .full_units = "products:attention=bf16"},
      {.name = "P2_fp8_delayed_mlp_zb1p",
       .mesh = {.pipeline = 2},
       .schedule = "zb-1p",
       .scales = Delayed,
       .full_units = "products:mlp=fp32"},
      {.name = "T2_sequence_recompute_fp8_rowwise_attention",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .sequence_parallel = true,
       .scales = Rowwise,
       .full_units = "products:attention=fp32"},
      {.name = "D2E2_fp8_tensorwise_experts",
       .mesh = {.data = 2, .expert = 2},
       .scales = Tensorwise,
       .full_units = "products:experts=fp32",
       .experts = even()},
      {.name = "D2E2T2_fp8_tensorwise_attention",
       .mesh = {.data = 2, .tensor = 2, .expert = 2},
       .scales = Tensorwise,
       .full_units = "products:attention=fp32",
       .experts = even()},
  };
}

}  // namespace

// Ends in fp32 beside blocks in 16 bit. Of the GPT-2 both, whose weight is one; of the Llama each by itself.
std::vector<Composition> of_full_units() {
  using enum sim::Recompute;
  using enum sim::Precision;
  constexpr auto kEnds = "embedding=fp32 head=fp32", kHead = "head=fp32", kEmbedding = "embedding=fp32";
  std::vector<Composition> all = {
      {.name = "D2_full_ends_bf16", .mesh = {.data = 2}, .precision = Bf16, .full_units = kEnds},
      {.name = "D2_full_ends_fp16_recompute", .mesh = {.data = 2}, .recompute = Full, .precision = Fp16, .full_units = kEnds},
      {.name = "D2_full_ends_bf16_wire_reduce_each",
       .mesh = {.data = 2},
       .accumulation = kEach,
       .precision = Bf16,
       .fp32_gradients = true,
       .wire = Bf16,
       .full_units = kEnds},
      {.name = "D2_full_ends_offload_bf16", .mesh = {.data = 2}, .precision = Bf16, .full_units = kEnds, .offload_optimizer = true},
      {.name = "D2_full_head_bf16", .mesh = {.data = 2}, .precision = Bf16, .full_units = kHead, .network = tiny_llama},
      {.name = "D2_full_embedding_bf16", .mesh = {.data = 2}, .precision = Bf16, .full_units = kEmbedding, .network = tiny_llama},
      {.name = "T2_full_ends_bf16", .mesh = {.tensor = 2}, .precision = Bf16, .full_units = kEnds},
      {.name = "T2_full_ends_sequence_bf16", .mesh = {.tensor = 2}, .sequence_parallel = true, .precision = Bf16, .full_units = kEnds},
      {.name = "P2_full_ends_1f1b_bf16", .mesh = {.pipeline = 2}, .precision = Bf16, .full_units = kEnds},
      {.name = "P2_full_head_zb1p_bf16",
       .mesh = {.pipeline = 2},
       .schedule = "zb-1p",
       .precision = Bf16,
       .full_units = kHead,
       .network = tiny_llama},
      {.name = "D4_full_ends_near_2_bf16", .mesh = {.data = 4, .reshard = 2}, .precision = Bf16, .full_units = kEnds},
      {.name = "D4R2_full_ends_bf16", .mesh = {.data = 4, .replicas = 2}, .precision = Bf16, .full_units = kEnds},
      {.name = "D2P2_full_ends_1f1b_bf16", .mesh = {.data = 2, .pipeline = 2}, .precision = Bf16, .full_units = kEnds},
      {.name = "D2T2_full_ends_sequence_bf16",
       .mesh = {.data = 2, .tensor = 2},
       .sequence_parallel = true,
       .precision = Bf16,
       .full_units = kEnds},
  };
  for (const std::vector<Composition>& more : {of_full_blocks(), of_unscaled_products()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace parity
