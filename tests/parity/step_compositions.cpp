#include "tests/parity/step_compositions.h"

namespace parity {

// Breadth-first; and a sample that passes the pipeline in pieces: TeraPipe's order, and Seq1F1B's.
std::vector<Composition> of_breadth_and_slices() {
  return {
      {.name = "P2_looped_bfs", .mesh = {.pipeline = 2}, .schedule = "looped-bfs", .chunks = 2},
      {.name = "D2P2_looped_bfs_recompute",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "looped-bfs",
       .chunks = 2,
       .recompute = sim::Recompute::Full,
       .accumulation = kEach},
      {.name = "P2_slices2_gpipe", .mesh = {.pipeline = 2}, .schedule = "gpipe", .slices = 2},
      {.name = "P2_slices4_gpipe", .mesh = {.pipeline = 2}, .schedule = "gpipe", .slices = 4, .microbatch_size = 2},
      {.name = "P2_slices2_1f1b", .mesh = {.pipeline = 2}, .slices = 2},
      {.name = "P2_slices4_1f1b", .mesh = {.pipeline = 2}, .slices = 4, .microbatch_size = 4},
      {.name = "P2_slices3_looped_bfs", .mesh = {.pipeline = 2}, .schedule = "looped-bfs", .chunks = 2, .slices = 3},
      {.name = "P2_slices2_latent", .mesh = {.pipeline = 2}, .slices = 2, .latent = true},
      {.name = "T2_slices2", .mesh = {.tensor = 2}, .slices = 2},
      {.name = "D2P2_slices2_1f1b", .mesh = {.data = 2, .pipeline = 2}, .slices = 2},
      {.name = "D2P2_slices4_gpipe", .mesh = {.data = 2, .pipeline = 2}, .schedule = "gpipe", .slices = 4},
      {.name = "T2P2_sequence_slices2_gpipe",
       .mesh = {.pipeline = 2, .tensor = 2},
       .schedule = "gpipe",
       .slices = 2,
       .sequence_parallel = true},
  };
}

std::vector<Composition> of_documents() {
  using enum sim::Precision;
  return {
      {.name = "D2_documents", .mesh = {.data = 2}, .microbatch_size = 2, .documents = true},
      {.name = "D2_documents_bf16", .mesh = {.data = 2}, .precision = Bf16, .documents = true},
      {.name = "T2_documents_sequence_recompute",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .sequence_parallel = true,
       .documents = true},
      {.name = "P2_documents_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .documents = true},
      {.name = "D2T2_documents", .mesh = {.data = 2, .tensor = 2}, .documents = true},
      {.name = "D2P2_documents_1f1b", .mesh = {.data = 2, .pipeline = 2}, .documents = true},
  };
}

// FairScale's OSS (1) and ShardedDDP (2): whole tensors by owner.
std::vector<Composition> of_owners() {
  using enum sim::Recompute;
  using enum sim::Precision;
  using enum sim::WeightSync;
  constexpr auto kWhole = sim::GradientSync::AllReduce;
  constexpr auto kMuon = sim::OptimizerKind::Muon;
  return {
      {.name = "D2_owners_whole_sums", .mesh = {.data = 2}, .owners = 1, .gradient_sync = kWhole, .weight_sync = Broadcast},
      {.name = "D2_owners_reduced", .mesh = {.data = 2}, .owners = 2, .weight_sync = Broadcast},
      {.name = "D2_owners_gathered_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .owners = 2},
      {.name = "D2_owners_bf16", .mesh = {.data = 2}, .precision = Bf16, .owners = 1, .weight_sync = Broadcast},
      {.name = "D2_owners_bf16_wire", .mesh = {.data = 2}, .precision = Bf16, .fp32_gradients = true, .wire = Bf16, .owners = 2},
      {.name = "D2_owners_adapters", .mesh = {.data = 2}, .adapters = kAdapters, .owners = 1},
      {.name = "D4_owners_whole_sums", .mesh = {.data = 4}, .owners = 1, .gradient_sync = kWhole, .weight_sync = Broadcast},
      {.name = "D4_owners_reduced", .mesh = {.data = 4}, .recompute = Full, .owners = 2, .weight_sync = Broadcast},
      {.name = "D8_owners_reduced", .mesh = {.data = 8}, .owners = 2},
      {.name = "D2T2_owners_sequence", .mesh = {.data = 2, .tensor = 2}, .sequence_parallel = true, .owners = 2, .weight_sync = Broadcast},
      {.name = "D2P2_owners_interleaved",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .owners = 1,
       .gradient_sync = kWhole},
      {.name = "D2C2_owners", .mesh = {.data = 2, .context = 2}, .owners = 2, .weight_sync = Broadcast},
      {.name = "D4E2_owners", .mesh = {.data = 4, .expert = 2}, .owners = 2, .weight_sync = Broadcast, .experts = even()},
      {.name = "D2_owners_muon", .mesh = {.data = 2}, .owners = 2, .optimizer = kMuon, .weight_sync = Broadcast},
      {.name = "D2_owners_muon_bf16", .mesh = {.data = 2}, .precision = Bf16, .owners = 1, .optimizer = kMuon, .gradient_sync = kWhole},
      {.name = "D4_owners_muon_whole_sums", .mesh = {.data = 4}, .owners = 1, .optimizer = kMuon, .gradient_sync = kWhole},
      {.name = "D2P2_owners_muon", .mesh = {.data = 2, .pipeline = 2}, .owners = 2, .optimizer = kMuon},
      {.name = "D4E2_owners_muon", .mesh = {.data = 4, .expert = 2}, .owners = 2, .optimizer = kMuon, .experts = even()},
      {.name = "D4R2_owners", .mesh = {.data = 4, .replicas = 2}, .owners = 1, .gradient_sync = kWhole, .weight_sync = Broadcast},
  };
}

// In fewer bits than the masters.
std::vector<Composition> of_moments() {
  using enum sim::Precision;
  constexpr auto kAdamW8bit = sim::OptimizerKind::AdamW8bit;
  return {
      {.name = "D2_bf16_moments", .mesh = {.data = 2}, .precision = Bf16, .moments = Bf16},
      {.name = "D2_moments_bf16_offload", .mesh = {.data = 2}, .moments = Bf16, .offload_optimizer = true},
      {.name = "D2_adamw_8bit", .mesh = {.data = 2}, .optimizer = kAdamW8bit},
      {.name = "D2_adamw_8bit_bf16_offload", .mesh = {.data = 2}, .precision = Bf16, .offload_optimizer = true, .optimizer = kAdamW8bit},
      {.name = "D2_owners_adamw_8bit", .mesh = {.data = 2}, .owners = 1, .optimizer = kAdamW8bit},
      {.name = "D4_adamw_8bit_reduce_each", .mesh = {.data = 4}, .accumulation = kEach, .optimizer = kAdamW8bit},
      {.name = "D2P2_adamw_8bit_bf16", .mesh = {.data = 2, .pipeline = 2}, .precision = Bf16, .optimizer = kAdamW8bit},
  };
}

std::vector<Composition> of_codecs() {
  return {
      {.name = "D2_wire_powersgd", .mesh = {.data = 2}, .codecs = "wire=powersgd:2"},
      {.name = "D4_wire_powersgd_reduce_each", .mesh = {.data = 4}, .accumulation = kEach, .codecs = "wire=powersgd:1"},
      {.name = "D2P2_wire_powersgd", .mesh = {.data = 2, .pipeline = 2}, .codecs = "wire=powersgd:2"},
      {.name = "D2T2_wire_powersgd", .mesh = {.data = 2, .tensor = 2}, .codecs = "wire=powersgd:2"},
      {.name = "D2_zero1_wire_int8", .mesh = {.data = 2}, .codecs = "wire=int8", .zero_stage = 1},
      {.name = "D4R2_zero2_wire_fp8", .mesh = {.data = 4, .replicas = 2}, .codecs = "wire=fp8", .zero_stage = 2},
      {.name = "D4_zero3_wire_int4", .mesh = {.data = 4}, .accumulation = kEach, .codecs = "wire=int4", .zero_stage = 3},
      {.name = "D2_zero3_gathers_int8", .mesh = {.data = 2}, .codecs = "gathers=int8", .zero_stage = 3},
      {.name = "D4_zero3_near_2_gathers_int8_wire_int4",
       .mesh = {.data = 4, .reshard = 2},
       .codecs = "gathers=int8 wire=int4",
       .zero_stage = 3},
      {.name = "D2E2_zero2_wire_int8", .mesh = {.data = 2, .expert = 2}, .codecs = "wire=int8", .zero_stage = 2, .experts = even()},
  };
}

}  // namespace parity
