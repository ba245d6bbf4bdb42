#include "tests/parity/step_compositions.h"

namespace parity {

// Ends in fp32 beside blocks in 16 bit. Of the GPT-2 both, whose weight is one; of the Llama each by itself.
std::vector<Composition> of_full_units() {
  using enum sim::Recompute;
  using enum sim::Precision;
  constexpr auto kEnds = "embedding=fp32 head=fp32", kHead = "head=fp32", kEmbedding = "embedding=fp32";
  return {
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
}

}  // namespace parity
