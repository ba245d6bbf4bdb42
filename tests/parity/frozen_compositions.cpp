#include "tests/parity/step_compositions.h"

namespace parity {

// In front of the first trained block nothing goes backward: of a stage nothing at all, of a unit a part of it.
std::vector<Composition> of_frozen_parts() {
  using enum sim::Recompute;
  using enum sim::Precision;
  return {
      {.name = "D2_frozen_norms", .mesh = {.data = 2}, .frozen = "norms"},
      {.name = "D2_frozen_first_2", .mesh = {.data = 2}, .frozen = "first 2"},
      {.name = "D2_frozen_first_1_bf16_recompute", .mesh = {.data = 2}, .recompute = Full, .precision = Bf16, .frozen = "first 1"},
      {.name = "D2_frozen_first_3_units_of_2", .mesh = {.data = 2}, .layers_per_unit = 2, .frozen = "first 3"},
      {.name = "D2_frozen_mlp_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .frozen = "embedding,mlp"},
      {.name = "D2_frozen_offload", .mesh = {.data = 2}, .offload_optimizer = true, .frozen = "attention first 1"},
      {.name = "T2_frozen_first_1", .mesh = {.tensor = 2}, .frozen = "first 1"},
      {.name = "T2_frozen_attention_sequence_recompute",
       .mesh = {.tensor = 2},
       .recompute = Full,
       .sequence_parallel = true,
       .frozen = "attention first 2"},
      {.name = "C2_frozen_first_1_ring", .mesh = {.context = 2}, .frozen = "first 1"},
      {.name = "P2_frozen_first_2_1f1b", .mesh = {.pipeline = 2}, .frozen = "first 2"},
      {.name = "D2P2_frozen_first_1_interleaved",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .frozen = "norms first 1"},
      {.name = "D2E2_frozen_first_2", .mesh = {.data = 2, .expert = 2}, .frozen = "first 2", .experts = even()},
  };
}

// Units that are gathered ahead.
std::vector<Composition> of_prefetching() {
  using enum sim::Recompute;
  using enum sim::Precision;
  return {
      {.name = "D2_no_units_ahead", .mesh = {.data = 2}, .zero_stage = 3, .prefetch = 0},
      {.name = "D2_2_units_ahead", .mesh = {.data = 2}, .zero_stage = 3, .prefetch = 2},
      {.name = "D2_3_units_ahead_bf16_recompute",
       .mesh = {.data = 2},
       .recompute = Full,
       .precision = Bf16,
       .zero_stage = 3,
       .prefetch = 3},
      {.name = "D4_near_2_3_units_ahead", .mesh = {.data = 4, .reshard = 2}, .zero_stage = 3, .prefetch = 3},
      {.name = "D2P2_2_units_ahead_interleaved",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .zero_stage = 3,
       .prefetch = 2},
      {.name = "D2E2_2_units_ahead_paired",
       .mesh = {.data = 2, .expert = 2},
       .expert_overlap = true,
       .zero_stage = 3,
       .prefetch = 2,
       .experts = even()},
  };
}

}  // namespace parity
