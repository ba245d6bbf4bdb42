// Compositions of adapters beside frozen weights, which are kept as others are, or in few bits.
#include "tests/parity/compositions.h"
#include "tests/parity/step_compositions.h"

#include "tests/parity/tiny_plans.h"

namespace parity {
namespace {

constexpr auto kOverFourBits = "rank 3 alpha 5 on q,v,o,up,down base nf4",
               kDroppedOverFourBits = "rank 3 alpha 5 on q,v,o,up,down base nf4 dropout 0.1";

}  // namespace

std::vector<Composition> of_adapters() {
  using enum sim::Recompute;
  using enum sim::Precision;
  return {
      {.name = "D2_adapters", .mesh = {.data = 2}, .adapters = kAdapters},
      {.name = "D2_adapters_on_values", .mesh = {.data = 2}, .adapters = "rank 2 on v"},
      {.name = "D2_adapters_bf16", .mesh = {.data = 2}, .precision = Bf16, .adapters = kAdapters},
      {.name = "D2_adapters_reduce_each_recompute", .mesh = {.data = 2}, .recompute = Full, .accumulation = kEach, .adapters = kAdapters},
      {.name = "D2_adapters_offload", .mesh = {.data = 2}, .offload_optimizer = true, .adapters = kAdapters},
      {.name = "T2_adapters", .mesh = {.tensor = 2}, .adapters = kAdapters},
      {.name = "T2_adapters_joint", .mesh = {.tensor = 2}, .adapters = "rank 2 on qkv,gate_up"},
      {.name = "T2_adapters_sequence_recompute",
       .mesh = {.tensor = 2},
       .recompute = Full,
       .sequence_parallel = true,
       .adapters = kAdapters},
      {.name = "P2_adapters_1f1b", .mesh = {.pipeline = 2}, .adapters = kAdapters},
      {.name = "P2_adapters_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .adapters = kAdapters},
      {.name = "C2_adapters_ring", .mesh = {.context = 2}, .adapters = kAdapters},
      {.name = "D4_adapters_near_2", .mesh = {.data = 4, .reshard = 2}, .adapters = kAdapters},
      {.name = "D4R2_adapters", .mesh = {.data = 4, .replicas = 2}, .adapters = kAdapters},
      {.name = "D2T2_adapters_sequence", .mesh = {.data = 2, .tensor = 2}, .sequence_parallel = true, .adapters = kAdapters},
      {.name = "D2P2_adapters_interleaved",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .adapters = kAdapters},
      {.name = "D2E2_adapters", .mesh = {.data = 2, .expert = 2}, .adapters = "rank 2 on q,k,v,o", .experts = even()},
      {.name = "T2_adapters_latent", .mesh = {.tensor = 2}, .latent = true, .adapters = "rank 2 on o"},
      {.name = "D2_adapters_nf4", .mesh = {.data = 2}, .adapters = kOverFourBits},
      {.name = "D2_adapters_nf4_bf16_recompute", .mesh = {.data = 2}, .recompute = Full, .precision = Bf16, .adapters = kOverFourBits},
      {.name = "P2_adapters_nf4_dropout_1f1b", .mesh = {.pipeline = 2}, .adapters = kDroppedOverFourBits},
      {.name = "T2_adapters_nf4_sequence", .mesh = {.tensor = 2}, .sequence_parallel = true, .wide = true, .adapters = kOverFourBits},
      {.name = "T2_adapters_int8_dropout", .mesh = {.tensor = 2}, .adapters = "rank 3 alpha 5 on q,v,o,up,down base int8 dropout 0.1"},
      {.name = "C2_adapters_int8_dropout_ring", .mesh = {.context = 2}, .adapters = "rank 3 on qkv,o base int8 dropout 0.1"},
      {.name = "D2T2_adapters_nf4_sequence_dropout",
       .mesh = {.data = 2, .tensor = 2},
       .sequence_parallel = true,
       .wide = true,
       .adapters = kDroppedOverFourBits},
      {.name = "D4_adapters_nf4_near_2", .mesh = {.data = 4, .reshard = 2}, .adapters = kOverFourBits},
      {.name = "D2_documents_adapters_nf4_dropout", .mesh = {.data = 2}, .adapters = kDroppedOverFourBits, .documents = true},
      {.name = "D2_owners_adapters_nf4",
       .mesh = {.data = 2},
       .adapters = kOverFourBits,
       .owners = 2,
       .weight_sync = sim::WeightSync::Broadcast},
      {.name = "P2_slices2_adapters_nf4_dropout_1f1b", .mesh = {.pipeline = 2}, .slices = 2, .adapters = kDroppedOverFourBits},
  };
}

}  // namespace parity
