#include "tests/parity/step_compositions.h"

namespace parity {

// Breadth-first; a sample that passes the pipeline in pieces: TeraPipe's order, and Seq1F1B's; and several passes a step.
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
      {.name = "P2_passes2_1f1b", .mesh = {.pipeline = 2}, .passes = 2},
      {.name = "P2_passes2_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .passes = 2},
      {.name = "P2_passes4_slices2_gpipe", .mesh = {.pipeline = 2}, .schedule = "gpipe", .slices = 2, .passes = 4},
      {.name = "D2P2_passes2_interleaved",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .passes = 2,
       .zero_stage = 3},
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

namespace {

sim::ExpertForm without_shared() {
  sim::ExpertForm form = even();
  form.balance_loss = 0;
  form.shared_experts = form.shared_ffn = 0;
  return form;
}

}  // namespace

// An expert is whole on a rank, while attention is cut over tensor ranks: each sends its own stretch of the tokens. With and without shared
// experts, which see all tokens.
std::vector<Composition> of_pairs() {
  using enum sim::Recompute;
  const auto paired = [](Composition one) {
    one.expert_overlap = true;
    one.experts = one.experts.value_or(even());
    return one;
  };
  return {
      paired({.name = "D2E2_paired_delayed", .mesh = {.data = 2, .expert = 2}, .delay_wgrad = true, .experts = all_experts()}),
      paired({.name = "D2E2_paired_delayed_latent_four_samples",
              .mesh = {.data = 2, .expert = 2},
              .microbatch_size = 4,
              .global_batch = 16,
              .delay_wgrad = true,
              .latent = true}),
      paired({.name = "E2T2_paired_delayed_whole_experts",
              .mesh = {.tensor = 2, .expert = 2, .expert_tensor = 1},
              .sequence_parallel = true,
              .delay_wgrad = true,
              .experts = without_shared()}),
      paired({.name = "D2E2T2_paired_delayed_sequence",
              .mesh = {.data = 2, .tensor = 2, .expert = 2},
              .sequence_parallel = true,
              .delay_wgrad = true}),
      paired({.name = "D2E2P2_paired_delayed_1f1b_bf16",
              .mesh = {.data = 2, .pipeline = 2, .expert = 2},
              .delay_wgrad = true,
              .precision = sim::Precision::Bf16}),
      paired({.name = "D2E2P2_paired_delayed_interleaved",
              .mesh = {.data = 2, .pipeline = 2, .expert = 2},
              .schedule = "interleaved",
              .chunks = 2,
              .delay_wgrad = true,
              .experts = *tiny_mixtral().experts}),
      paired({.name = "D2E2P2_paired_delayed_dualpipev",
              .mesh = {.data = 2, .pipeline = 2, .expert = 2},
              .schedule = "dualpipev",
              .chunks = 2,
              .global_batch = 12,
              .delay_wgrad = true}),
      paired({.name = "D2E2_paired", .mesh = {.data = 2, .expert = 2}}),
      paired({.name = "D2E2_paired_dropless", .mesh = {.data = 2, .expert = 2}, .experts = *tiny_mixtral().experts}),
      paired({.name = "D2E2_paired_reduce_each_bf16",
              .mesh = {.data = 2, .expert = 2},
              .accumulation = kEach,
              .precision = sim::Precision::Bf16}),
      paired({.name = "D2E2_paired_recompute_norms",
              .mesh = {.data = 2, .expert = 2},
              .recompute = Selective,
              .recompute_scope = "modules core_attn,layernorm"}),
      paired({.name = "D2E2_paired_latent", .mesh = {.data = 2, .expert = 2}, .latent = true}),
      paired({.name = "D2E2_paired_adapters", .mesh = {.data = 2, .expert = 2}, .adapters = "rank 2 on q,k,v,o"}),
      paired({.name = "C2E2_paired_ring", .mesh = {.context = 2, .expert = 2}, .experts = all_experts()}),
      paired({.name = "E2T2_paired_whole_experts",
              .mesh = {.tensor = 2, .expert = 2, .expert_tensor = 1},
              .sequence_parallel = true,
              .experts = without_shared()}),
      paired({.name = "D4E2_paired", .mesh = {.data = 4, .expert = 2}}),
      paired({.name = "D4E2R2_paired_reduce_each", .mesh = {.data = 4, .replicas = 2, .expert = 2}, .accumulation = kEach}),
      paired({.name = "D2E2T2_paired_sequence", .mesh = {.data = 2, .tensor = 2, .expert = 2}, .sequence_parallel = true}),
      paired({.name = "D2E2P2_paired_1f1b", .mesh = {.data = 2, .pipeline = 2, .expert = 2}}),
      paired({.name = "D2E2P2_paired_interleaved",
              .mesh = {.data = 2, .pipeline = 2, .expert = 2},
              .schedule = "interleaved",
              .chunks = 2,
              .experts = *tiny_mixtral().experts}),
      paired({.name = "D2E2P2_paired_interleaved_recompute_mlp",
              .mesh = {.data = 2, .pipeline = 2, .expert = 2},
              .schedule = "interleaved",
              .chunks = 2,
              .recompute = Selective,
              .recompute_scope = "modules mlp"}),
      {.name = "P2_dualpipev", .mesh = {.pipeline = 2}, .schedule = "dualpipev", .chunks = 2},
      {.name = "D2P2_dualpipev_recompute",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "dualpipev",
       .chunks = 2,
       .global_batch = 10,
       .recompute = Full},
      {.name = "T2P2_dualpipev_sequence",
       .mesh = {.pipeline = 2, .tensor = 2},
       .schedule = "dualpipev",
       .chunks = 2,
       .sequence_parallel = true},
      paired({.name = "D2E2P2_paired_dualpipev",
              .mesh = {.data = 2, .pipeline = 2, .expert = 2},
              .schedule = "dualpipev",
              .chunks = 2,
              .global_batch = 12}),
      paired({.name = "D4E2P2_paired_interleaved",
              .mesh = {.data = 4, .pipeline = 2, .expert = 2},
              .schedule = "interleaved",
              .chunks = 2,
              .global_batch = 16}),
  };
}

std::vector<Composition> of_experts_apart() {
  using enum sim::Recompute;
  const auto apart = [](Composition one) {
    one.sequence_parallel = true;
    one.mesh.expert_tensor = 1;
    one.experts = one.experts.value_or(without_shared());
    return one;
  };
  const auto shared = [](Composition one) {
    one.sequence_parallel = one.mesh.tensor > 1;
    one.mesh.expert_tensor = 2;
    return one;
  };
  return {
      shared({.name = "D2_shared_experts", .mesh = {.data = 2}, .experts = *tiny_mixtral().experts}),
      shared({.name = "D2_shared_experts_recompute", .mesh = {.data = 2}, .recompute = Full, .experts = all_experts()}),
      shared({.name = "D4_shared_experts_recompute_moe_bf16",
              .mesh = {.data = 4},
              .recompute = Selective,
              .precision = sim::Precision::Bf16,
              .recompute_scope = "modules moe",
              .experts = even()}),
      shared({.name = "D4E2_shared_experts", .mesh = {.data = 4, .expert = 2}, .experts = *tiny_mixtral().experts}),
      shared({.name = "E2T4_shared_experts_recompute",
              .mesh = {.tensor = 4, .expert = 2},
              .recompute = Full,
              .latent = true,
              .experts = all_experts()}),
      shared(
          {.name = "D4E2P2_shared_experts_zb1p", .mesh = {.data = 4, .pipeline = 2, .expert = 2}, .schedule = "zb-1p", .experts = even()}),
      apart({.name = "T2_whole_experts", .mesh = {.tensor = 2}}),
      apart({.name = "T2_whole_experts_beside_shared", .mesh = {.tensor = 2}, .experts = all_experts()}),
      apart({.name = "T2_whole_experts_zero3", .mesh = {.tensor = 2}, .zero_stage = 3}),
      apart({.name = "T2_whole_experts_recompute", .mesh = {.tensor = 2}, .recompute = Full}),
      apart({.name = "T2_whole_experts_reduce_each", .mesh = {.tensor = 2}, .accumulation = kEach}),
      apart({.name = "T2_whole_experts_recompute_moe", .mesh = {.tensor = 2}, .recompute = Selective, .recompute_scope = "modules moe"}),
      apart({.name = "E2T2_whole_experts", .mesh = {.tensor = 2, .expert = 2}}),
      apart({.name = "E2T2_whole_experts_beside_shared_recompute",
             .mesh = {.tensor = 2, .expert = 2},
             .recompute = Full,
             .experts = all_experts()}),
      apart({.name = "E2T2_whole_experts_beside_shared_recompute_moe",
             .mesh = {.tensor = 2, .expert = 2},
             .recompute = Selective,
             .recompute_scope = "modules moe",
             .experts = all_experts()}),
      apart({.name = "E2T2_whole_experts_bf16", .mesh = {.tensor = 2, .expert = 2}, .precision = sim::Precision::Bf16}),
      apart({.name = "D2T2_whole_experts", .mesh = {.data = 2, .tensor = 2}}),
      apart({.name = "D2T2_whole_experts_reduce_each", .mesh = {.data = 2, .tensor = 2}, .accumulation = kEach, .experts = all_experts()}),
      apart({.name = "D2E2T2_whole_experts_beside_shared", .mesh = {.data = 2, .tensor = 2, .expert = 2}, .experts = all_experts()}),
      apart({.name = "D2E4T2_whole_experts", .mesh = {.data = 2, .tensor = 2, .expert = 4}}),
      apart({.name = "D4E2R2T2_whole_experts", .mesh = {.data = 4, .tensor = 2, .replicas = 2, .expert = 2}}),
      apart({.name = "E2T2P2_whole_experts_zb1p",
             .mesh = {.pipeline = 2, .tensor = 2, .expert = 2},
             .schedule = "zb-1p",
             .experts = all_experts()}),
      apart({.name = "D2E4T2P2_whole_experts", .mesh = {.data = 2, .pipeline = 2, .tensor = 2, .expert = 4}}),
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
      {.name = "C2_documents_ring", .mesh = {.context = 2}, .microbatch_size = 2, .documents = true},
      {.name = "C2_documents_all_gather_recompute",
       .mesh = {.context = 2},
       .recompute = sim::Recompute::Full,
       .context_algorithm = sim::ContextAlgorithm::AllGather,
       .documents = true},
      {.name = "C2_documents_all_to_all", .mesh = {.context = 2}, .context_algorithm = sim::ContextAlgorithm::AllToAll, .documents = true},
      {.name = "D2C2_documents_ring", .mesh = {.data = 2, .context = 2}, .documents = true},
      {.name = "C2_by_document", .mesh = {.context = 2}, .documents = true, .context_by_document = true},
      {.name = "C2_by_document_latent_recompute",
       .mesh = {.context = 2},
       .recompute = sim::Recompute::Full,
       .latent = true,
       .documents = true,
       .context_by_document = true},
      {.name = "C4_by_document", .mesh = {.context = 4}, .sequence = 16, .documents = true, .context_by_document = true},
      {.name = "C2T2_by_document_sequence",
       .mesh = {.tensor = 2, .context = 2},
       .sequence_parallel = true,
       .documents = true,
       .context_by_document = true},
      {.name = "C2P2_by_document_zb1p",
       .mesh = {.pipeline = 2, .context = 2},
       .schedule = "zb-1p",
       .documents = true,
       .context_by_document = true},
      {.name = "D2_documents_latent", .mesh = {.data = 2}, .latent = true, .documents = true},
      {.name = "D2_documents_fitted", .mesh = {.data = 2}, .microbatch_size = 2, .documents = true, .fitted = true},
      {.name = "C2_documents_fitted_ring", .mesh = {.context = 2}, .documents = true, .fitted = true},
      {.name = "D2_documents_experts", .mesh = {.data = 2}, .documents = true, .experts = even()},
      {.name = "D2E2_documents", .mesh = {.data = 2, .expert = 2}, .documents = true, .experts = even()},
      {.name = "T2_documents_windows_sequence",
       .mesh = {.tensor = 2},
       .sequence_parallel = true,
       .documents = true,
       .network = windows_and_sinks},
  };
}

// Norms and biases stay whole under ZeRO-3.
std::vector<Composition> of_small_parameters() {
  return {
      {.name = "D2_persistent", .mesh = {.data = 2}, .zero_stage = 3, .persistence_threshold = 100},
      {.name = "D2_persistent_offload_bf16_reduce_each",
       .mesh = {.data = 2},
       .accumulation = kEach,
       .precision = sim::Precision::Bf16,
       .offload_optimizer = true,
       .zero_stage = 3,
       .persistence_threshold = 100},
      {.name = "D2T2_persistent_sequence",
       .mesh = {.data = 2, .tensor = 2},
       .sequence_parallel = true,
       .zero_stage = 3,
       .persistence_threshold = 100},
      {.name = "D2_encoder_distances_persistent", .mesh = {.data = 2}, .zero_stage = 3, .persistence_threshold = 100, .network = tiny_t5},
  };
}

// Layers are of several parts, and those of the last ones are summed in the next step.
std::vector<Composition> of_priority() {
  constexpr sim::Bytes kPart{1 << 16}, kCredit{1 << 17};
  const auto by_priority = [&](Composition one) {
    one.wide = true;
    one.global_batch = 4;
    one.partition_size = kPart;
    one.credit_size = kCredit;
    return one;
  };
  return {
      by_priority({.name = "D2_by_priority", .mesh = {.data = 2}}),
      by_priority({.name = "D2_by_priority_bf16", .mesh = {.data = 2}, .precision = sim::Precision::Bf16}),
      by_priority({.name = "D2_by_priority_recompute", .mesh = {.data = 2}, .recompute = sim::Recompute::Full}),
      by_priority({.name = "D4_by_priority", .mesh = {.data = 4}}),
      by_priority({.name = "D2C2_by_priority_ring", .mesh = {.data = 2, .context = 2}}),
  };
}

// Gradients of one unit at a time: one microbatch a step. Embeddings are tied, whose gradients come from both ends.
std::vector<Composition> of_steps_in_the_backward() {
  const auto inside = [](Composition one) {
    one.in_backward = true;
    one.microbatch_size = one.global_batch / one.mesh.data;
    return one;
  };
  return {
      inside({.name = "D1_steps_in_the_backward", .mesh = {}}),
      inside({.name = "D1_steps_in_the_backward_recompute_bf16",
              .mesh = {},
              .recompute = sim::Recompute::Full,
              .precision = sim::Precision::Bf16,
              .masters = sim::Precision::Bf16}),
      inside({.name = "D1_steps_in_the_backward_adamw_8bit", .mesh = {}, .optimizer = sim::OptimizerKind::AdamW8bit}),
      inside({.name = "D2_steps_in_the_backward", .mesh = {.data = 2}}),
      inside({.name = "D2_steps_in_the_backward_on_shards", .mesh = {.data = 2}, .zero_stage = 3}),
      inside({.name = "D2_steps_in_the_backward_on_shards_two_blocks_a_unit_bf16",
              .mesh = {.data = 2},
              .precision = sim::Precision::Bf16,
              .layers_per_unit = 2,
              .zero_stage = 3}),
      inside({.name = "D2_steps_in_the_backward_resnet", .mesh = {.data = 2}, .sequence = 1, .network = tiny_resnet}),
      inside({.name = "D4R2_steps_in_the_backward_on_shards", .mesh = {.data = 4, .replicas = 2}, .zero_stage = 3}),
      inside({.name = "D2C2_steps_in_the_backward", .mesh = {.data = 2, .context = 2}}),
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
      {.name = "D2T2_owners_muon", .mesh = {.data = 2, .tensor = 2}, .sequence_parallel = true, .owners = 2, .optimizer = kMuon},
      {.name = "T2_muon", .mesh = {.tensor = 2}, .optimizer = kMuon},
      {.name = "D4R2_owners", .mesh = {.data = 4, .replicas = 2}, .owners = 1, .gradient_sync = kWhole, .weight_sync = Broadcast},
  };
}

std::vector<Composition> of_kept_numbers() {
  using enum sim::Precision;
  return {
      {.name = "D2_first_bucket", .mesh = {.data = 2}, .first_bucket_size = sim::Bytes(4096)},
      {.name = "D2_first_bucket_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .first_bucket_size = sim::Bytes(4096)},
      {.name = "D2_wire_bf16", .mesh = {.data = 2}, .wire = Bf16},
      {.name = "D2_wire_fp16_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .wire = Fp16},
      {.name = "D2_bf16_wire_beside_fp32_gradients", .mesh = {.data = 2}, .precision = Bf16, .fp32_gradients = true, .wire = Bf16},
      {.name = "D2_bf16_without_masters", .mesh = {.data = 2}, .precision = Bf16, .masters = Bf16},
      {.name = "D2_bf16_without_masters_offload", .mesh = {.data = 2}, .precision = Bf16, .masters = Bf16, .offload_optimizer = true},
      {.name = "T2P2_bf16_without_masters", .mesh = {.pipeline = 2, .tensor = 2}, .precision = Bf16, .masters = Bf16},
      {.name = "D4R2_wire_bf16", .mesh = {.data = 4, .replicas = 2}, .wire = Bf16},
      {.name = "D2P2_wire_bf16", .mesh = {.data = 2, .pipeline = 2}, .wire = Bf16},
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

namespace {

sim::ModelConfig norms_without_weights() {
  sim::ModelConfig model = tiny_llama();
  model.model_type = "nanochat";
  model.gated_mlp = model.norm_weight = false;
  model.activation = sim::Activation::SquaredRelu;
  model.embedding_norm = true;
  model.qk_norm = sim::QkNorm::Plain;
  model.logit_cap = 15;
  return model;
}

}  // namespace

// Of maps all samples of a step are one batch to norm.
std::vector<Composition> of_networks() {
  return {
      {.name = "D1_resnet", .mesh = {}, .microbatch_size = 8, .sequence = 1, .network = tiny_resnet},
      {.name = "D2_resnet", .mesh = {.data = 2}, .microbatch_size = 4, .sequence = 1, .network = tiny_resnet},
      {.name = "D2_resnet_own_statistics",
       .mesh = {.data = 2},
       .microbatch_size = 4,
       .sequence = 1,
       .own_statistics = true,
       .network = tiny_resnet},
      {.name = "D2_resnet_own_statistics_reduce_each",
       .mesh = {.data = 2},
       .microbatch_size = 2,
       .accumulation = kEach,
       .sequence = 1,
       .own_statistics = true,
       .network = tiny_resnet},
      {.name = "D2_regnet", .mesh = {.data = 2}, .microbatch_size = 4, .sequence = 1, .network = tiny_regnet},
      {.name = "D4_resnet", .mesh = {.data = 4}, .microbatch_size = 2, .sequence = 1, .network = tiny_resnet},
      {.name = "D2_norms_without_weights", .mesh = {.data = 2}, .network = norms_without_weights},
      {.name = "T2_norms_behind_the_turn_sequence", .mesh = {.tensor = 2}, .sequence_parallel = true, .network = norms_behind_the_turn},
      {.name = "D2_masked", .mesh = {.data = 2}, .network = tiny_bert},
      {.name = "T2_masked", .mesh = {.tensor = 2}, .network = tiny_bert},
      {.name = "T2_masked_sequence_recompute",
       .mesh = {.tensor = 2},
       .recompute = sim::Recompute::Full,
       .sequence_parallel = true,
       .network = tiny_bert},
      {.name = "P2_masked_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .microbatch_size = 2, .network = tiny_bert},
      {.name = "D2P2_masked_bf16", .mesh = {.data = 2, .pipeline = 2}, .precision = sim::Precision::Bf16, .network = tiny_bert},
      {.name = "D1_encoder_norms_before_recompute", .mesh = {}, .recompute = sim::Recompute::Full, .network = tiny_mbart},
      {.name = "D2_encoder", .mesh = {.data = 2}, .network = tiny_bart},
      {.name = "T2_encoder", .mesh = {.tensor = 2}, .network = tiny_bart},
      {.name = "T2_encoder_norms_before", .mesh = {.tensor = 2}, .microbatch_size = 2, .network = tiny_mbart},
      {.name = "T2_encoder_distances_recompute", .mesh = {.tensor = 2}, .recompute = sim::Recompute::Full, .network = tiny_t5},
      {.name = "P2_encoder_distances_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .network = tiny_t5},
      {.name = "D2_encoder_distances_of_each", .mesh = {.data = 2}, .network = tiny_umt5},
      {.name = "T2_encoder_late_positions", .mesh = {.tensor = 2}, .network = tiny_small_blenderbot},
      {.name = "P2_encoder_1f1b", .mesh = {.pipeline = 2}, .network = tiny_bart},
      {.name = "P2_encoder_norms_before_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .microbatch_size = 2, .network = tiny_mbart},
  };
}

}  // namespace parity
