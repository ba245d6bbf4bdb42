#include "tests/parity/compositions.h"
#include "tests/parity/step_compositions.h"

#include "tests/parity/tiny_plans.h"

namespace parity {
namespace {

const sim::ExpertForm kDropless = *tiny_mixtral().experts;

sim::ExpertForm limited(sim::ExpertDispatch dispatch, double factor) {
  sim::ExpertForm form = kDropless;
  form.dispatch = dispatch;
  form.capacity_factor = factor;
  return form;
}

std::vector<Composition> of_data_tensor_and_pipeline() {
  using enum sim::Recompute;
  using enum sim::Precision;
  return {
      {.name = "T2", .mesh = {.tensor = 2}},
      {.name = "T2_recompute", .mesh = {.tensor = 2}, .recompute = Full},
      {.name = "T4", .mesh = {.tensor = 4}},
      {.name = "P2_gpipe", .mesh = {.pipeline = 2}, .schedule = "gpipe"},
      {.name = "P2_1f1b", .mesh = {.pipeline = 2}},
      {.name = "P2_interleaved", .mesh = {.pipeline = 2}, .schedule = "interleaved", .chunks = 2},
      {.name = "P2_interleaved_five_microbatches", .mesh = {.pipeline = 2}, .schedule = "interleaved", .chunks = 2, .global_batch = 5},
      {.name = "P2_gpipe_recompute", .mesh = {.pipeline = 2}, .schedule = "gpipe", .recompute = Full},
      {.name = "P2_one_microbatch", .mesh = {.pipeline = 2}, .microbatch_size = 8},
      {.name = "P4_1f1b", .mesh = {.pipeline = 4}},
      {.name = "P2_head_alone_1f1b", .mesh = {.pipeline = 2}, .head_alone = true},
      {.name = "P4_head_alone_zb1p", .mesh = {.pipeline = 4}, .schedule = "zb-1p", .head_alone = true},
      {.name = "D2P2_head_alone_1f1b", .mesh = {.data = 2, .pipeline = 2}, .head_alone = true},
      {.name = "T2P2_head_alone_sequence_recompute",
       .mesh = {.pipeline = 2, .tensor = 2},
       .recompute = Full,
       .sequence_parallel = true,
       .head_alone = true},
      {.name = "P4_gpipe_two_microbatches", .mesh = {.pipeline = 4}, .schedule = "gpipe", .microbatch_size = 4},
      {.name = "D2T2", .mesh = {.data = 2, .tensor = 2}},
      {.name = "D2T2_reduce_each", .mesh = {.data = 2, .tensor = 2}, .accumulation = kEach},
      {.name = "D2P2_1f1b", .mesh = {.data = 2, .pipeline = 2}},
      {.name = "D2P2_interleaved",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .recompute = Full,
       .accumulation = kEach},
      {.name = "D2P2_interleaved_five_microbatches",
       .mesh = {.data = 2, .pipeline = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .global_batch = 10},
      {.name = "T2P2_1f1b", .mesh = {.pipeline = 2, .tensor = 2}},
      {.name = "T2P2_gpipe_recompute", .mesh = {.pipeline = 2, .tensor = 2}, .schedule = "gpipe", .recompute = Full},
      {.name = "T2_sequence", .mesh = {.tensor = 2}, .sequence_parallel = true},
      {.name = "T2_sequence_recompute", .mesh = {.tensor = 2}, .recompute = Full, .sequence_parallel = true},
      {.name = "T4_sequence", .mesh = {.tensor = 4}, .microbatch_size = 2, .sequence_parallel = true},
      {.name = "D2T2_sequence_reduce_each", .mesh = {.data = 2, .tensor = 2}, .accumulation = kEach, .sequence_parallel = true},
      {.name = "T2P2_sequence_1f1b", .mesh = {.pipeline = 2, .tensor = 2}, .sequence_parallel = true},
      {.name = "T2_selective", .mesh = {.tensor = 2}, .recompute = Selective},
      {.name = "T2_sequence_selective", .mesh = {.tensor = 2}, .recompute = Selective, .sequence_parallel = true},
      {.name = "D2P2_selective", .mesh = {.data = 2, .pipeline = 2}, .recompute = Selective},
      {.name = "D2_bf16", .mesh = {.data = 2}, .precision = Bf16},
      {.name = "D2_bf16_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .precision = Bf16, .fp32_gradients = true},
      {.name = "D2_fp16", .mesh = {.data = 2}, .precision = Fp16},
      {.name = "D2T2_sequence_bf16", .mesh = {.data = 2, .tensor = 2}, .sequence_parallel = true, .precision = Bf16},
      {.name = "D2P2_bf16_recompute", .mesh = {.data = 2, .pipeline = 2}, .recompute = Full, .precision = Bf16},
      {.name = "D4R2", .mesh = {.data = 4, .replicas = 2}},
      {.name = "D4R2_reduce_each", .mesh = {.data = 4, .replicas = 2}, .accumulation = kEach},
      {.name = "D4R2T2", .mesh = {.data = 4, .tensor = 2, .replicas = 2}},
      {.name = "D4R2P2_bf16", .mesh = {.data = 4, .pipeline = 2, .replicas = 2}, .precision = Bf16},
      {.name = "P2_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p"},
      {.name = "P2_zb2p_recompute", .mesh = {.pipeline = 2}, .schedule = "zb-2p", .recompute = Full},
      {.name = "P2_zbv", .mesh = {.pipeline = 2}, .schedule = "zbv", .chunks = 2},
      {.name = "P4_zb1p", .mesh = {.pipeline = 4}, .schedule = "zb-1p"},
      {.name = "D2P2_zb1p", .mesh = {.data = 2, .pipeline = 2}, .schedule = "zb-1p"},
      {.name = "D2P2_vhalf", .mesh = {.data = 2, .pipeline = 2}, .schedule = "v-half", .chunks = 2},
      {.name = "T2P2_zbv_sequence", .mesh = {.pipeline = 2, .tensor = 2}, .schedule = "zbv", .chunks = 2, .sequence_parallel = true},
      {.name = "T2P2_vmin_recompute", .mesh = {.pipeline = 2, .tensor = 2}, .schedule = "v-min", .chunks = 2, .recompute = Full},
      {.name = "D2T2P2_1f1b", .mesh = {.data = 2, .pipeline = 2, .tensor = 2}},
      {.name = "D2T2P2_sequence_1f1b", .mesh = {.data = 2, .pipeline = 2, .tensor = 2}, .sequence_parallel = true},
      {.name = "D2T2P2_interleaved_recompute",
       .mesh = {.data = 2, .pipeline = 2, .tensor = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .recompute = Full,
       .accumulation = kEach},
  };
}

// Several blocks are gathered, freed and reduced together: 4 blocks in units of 2, 3 (one is left) and more than there are.
std::vector<Composition> of_wrapping() {
  using enum sim::Recompute;
  using enum sim::Precision;
  return {
      {.name = "D2_units_of_2", .mesh = {.data = 2}, .layers_per_unit = 2},
      {.name = "D2_units_of_3_recompute", .mesh = {.data = 2}, .recompute = Full, .layers_per_unit = 3},
      {.name = "D2_units_of_2_reduce_each", .mesh = {.data = 2}, .accumulation = kEach, .layers_per_unit = 2},
      {.name = "D2_units_of_2_bf16", .mesh = {.data = 2}, .precision = Bf16, .fp32_gradients = true, .layers_per_unit = 2},
      {.name = "D4_units_of_3", .mesh = {.data = 4}, .layers_per_unit = 3},
      {.name = "D4R2_units_of_2", .mesh = {.data = 4, .replicas = 2}, .layers_per_unit = 2},
      {.name = "D2T2_units_of_2_sequence", .mesh = {.data = 2, .tensor = 2}, .sequence_parallel = true, .layers_per_unit = 2},
      {.name = "D2P2_units_of_2_1f1b", .mesh = {.data = 2, .pipeline = 2}, .layers_per_unit = 2},
      {.name = "D2P2_units_of_2_zb1p", .mesh = {.data = 2, .pipeline = 2}, .schedule = "zb-1p", .layers_per_unit = 2},
      {.name = "C2_units_of_2_ring", .mesh = {.context = 2}, .layers_per_unit = 2},
      {.name = "D2E2_units_of_2", .mesh = {.data = 2, .expert = 2}, .layers_per_unit = 2, .experts = even()},
      {.name = "D2_units_of_8_experts", .mesh = {.data = 2}, .layers_per_unit = 8, .experts = even()},
      {.name = "D4_near_2", .mesh = {.data = 4, .reshard = 2}},  // neighbours keep the weights after forward
      {.name = "D4_near_2_reduce_each", .mesh = {.data = 4, .reshard = 2}, .accumulation = kEach},
      {.name = "D4_near_2_until_the_step", .mesh = {.data = 4, .reshard = 2}, .zero_stage = 3, .kept_until = sim::KeptUntil::Step},
      {.name = "D2_whole_from_backward_to_forward",
       .mesh = {.data = 2},
       .zero_stage = 3,
       .reshard_after_backward = sim::ReshardAfterBackward::Last},
      {.name = "D2P2_whole_from_backward_to_forward_reduce_each",
       .mesh = {.data = 2, .pipeline = 2},
       .accumulation = kEach,
       .zero_stage = 3,
       .reshard_after_backward = sim::ReshardAfterBackward::Last},
      {.name = "D4_near_2_units_of_3_recompute_bf16",
       .mesh = {.data = 4, .reshard = 2},
       .recompute = Full,
       .precision = Bf16,
       .layers_per_unit = 3},
      {.name = "D2C2_near_2_ring", .mesh = {.data = 2, .context = 2, .reshard = 2}},
      {.name = "D4E2_near_2", .mesh = {.data = 4, .expert = 2, .reshard = 2}, .experts = even()},
      {.name = "D4T2_near_2_sequence", .mesh = {.data = 4, .tensor = 2, .reshard = 2}, .sequence_parallel = true},
      {.name = "D4P2_near_2_1f1b", .mesh = {.data = 4, .pipeline = 2, .reshard = 2}},
      {.name = "D4P2_near_2_zbv", .mesh = {.data = 4, .pipeline = 2, .reshard = 2}, .schedule = "zbv", .chunks = 2},
  };
}

std::vector<Composition> of_context() {
  using enum sim::Recompute;
  using enum sim::Precision;
  using enum sim::ContextAlgorithm;
  return {
      {.name = "C2_all_gather", .mesh = {.context = 2}, .context_algorithm = AllGather},
      {.name = "C2_all_to_all", .mesh = {.context = 2}, .context_algorithm = AllToAll},
      {.name = "C2_ring", .mesh = {.context = 2}},
      {.name = "C2_ring_two_samples", .mesh = {.context = 2}, .microbatch_size = 2},
      {.name = "C2_all_to_all_two_samples_recompute",
       .mesh = {.context = 2},
       .microbatch_size = 2,
       .recompute = Full,
       .context_algorithm = AllToAll},
      {.name = "C2_all_gather_two_samples_recompute",
       .mesh = {.context = 2},
       .microbatch_size = 2,
       .recompute = Full,
       .context_algorithm = AllGather},
      {.name = "C2_ring_recompute", .mesh = {.context = 2}, .recompute = Full},
      {.name = "C2_ring_selective", .mesh = {.context = 2}, .recompute = Selective},
      {.name = "C2_ring_bf16", .mesh = {.context = 2}, .precision = Bf16},
      {.name = "C2_all_gather_bf16", .mesh = {.context = 2}, .precision = Bf16, .context_algorithm = AllGather},
      {.name = "C4_ring", .mesh = {.context = 4}, .sequence = 16},
      {.name = "C4_ring_shortest_pieces", .mesh = {.context = 4}, .recompute = Full, .sequence = 8},
      {.name = "C4_all_gather", .mesh = {.context = 4}, .context_algorithm = AllGather, .sequence = 16},
      {.name = "C4_all_to_all", .mesh = {.context = 4}, .context_algorithm = AllToAll},
      {.name = "C4_near_2_hierarchical", .mesh = {.context = 4, .context_inner = 2}, .context_algorithm = Hierarchical, .sequence = 16},
      {.name = "C4_near_2_hierarchical_two_samples_recompute",
       .mesh = {.context = 4, .context_inner = 2},
       .microbatch_size = 2,
       .recompute = Full,
       .context_algorithm = Hierarchical,
       .sequence = 16},
      {.name = "C2T2_ring", .mesh = {.tensor = 2, .context = 2}},
      {.name = "C2T2_all_to_all", .mesh = {.tensor = 2, .context = 2}, .context_algorithm = AllToAll},
      {.name = "C2T2_ring_sequence", .mesh = {.tensor = 2, .context = 2}, .microbatch_size = 2, .sequence_parallel = true},
      {.name = "C2T2_all_gather_sequence_recompute",
       .mesh = {.tensor = 2, .context = 2},
       .recompute = Full,
       .sequence_parallel = true,
       .context_algorithm = AllGather},
      {.name = "C2T2_all_to_all_sequence", .mesh = {.tensor = 2, .context = 2}, .sequence_parallel = true, .context_algorithm = AllToAll},
      {.name = "C2P2_1f1b_ring", .mesh = {.pipeline = 2, .context = 2}},
      {.name = "C2P2_zb1p_ring", .mesh = {.pipeline = 2, .context = 2}, .schedule = "zb-1p"},
      {.name = "C2P2_zb2p_all_to_all_recompute",
       .mesh = {.pipeline = 2, .context = 2},
       .schedule = "zb-2p",
       .recompute = Full,
       .context_algorithm = AllToAll},
      {.name = "C2P2_interleaved_all_gather",
       .mesh = {.pipeline = 2, .context = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .context_algorithm = AllGather},
      {.name = "C2P2_zbv_all_gather",
       .mesh = {.pipeline = 2, .context = 2},
       .schedule = "zbv",
       .chunks = 2,
       .context_algorithm = AllGather},
      {.name = "D2C2_ring", .mesh = {.data = 2, .context = 2}},
      {.name = "D2C2_all_to_all_reduce_each", .mesh = {.data = 2, .context = 2}, .accumulation = kEach, .context_algorithm = AllToAll},
      {.name = "D2C2R2_all_gather", .mesh = {.data = 2, .replicas = 2, .context = 2}, .context_algorithm = AllGather},
      {.name = "D2C2T2_ring_sequence", .mesh = {.data = 2, .tensor = 2, .context = 2}, .sequence_parallel = true},
      {.name = "C2T2P2_zb1p_ring_sequence",
       .mesh = {.pipeline = 2, .tensor = 2, .context = 2},
       .schedule = "zb-1p",
       .sequence_parallel = true},
      {.name = "D2C2P2_interleaved_ring_recompute",
       .mesh = {.data = 2, .pipeline = 2, .context = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .recompute = Full,
       .accumulation = kEach},
  };
}

std::vector<Composition> of_latent_attention() {
  using enum sim::Recompute;
  using enum sim::Precision;
  using enum sim::ContextAlgorithm;
  return {
      {.name = "D1_latent_recompute", .mesh = {}, .recompute = Full, .latent = true},
      {.name = "T2_latent", .mesh = {.tensor = 2}, .latent = true},
      {.name = "T2_latent_selective", .mesh = {.tensor = 2}, .recompute = Selective, .latent = true},
      {.name = "T2_latent_sequence_recompute", .mesh = {.tensor = 2}, .recompute = Full, .sequence_parallel = true, .latent = true},
      {.name = "T4_latent_sequence", .mesh = {.tensor = 4}, .sequence_parallel = true, .latent = true},
      {.name = "P2_latent_1f1b", .mesh = {.pipeline = 2}, .latent = true},
      {.name = "D2_latent", .mesh = {.data = 2}, .latent = true},
      {.name = "D2_latent_bf16", .mesh = {.data = 2}, .precision = Bf16, .fp32_gradients = true, .latent = true},
      {.name = "D2T2_latent_reduce_each", .mesh = {.data = 2, .tensor = 2}, .accumulation = kEach, .latent = true},
      {.name = "D2P2_latent_zb1p", .mesh = {.data = 2, .pipeline = 2}, .schedule = "zb-1p", .latent = true},
      {.name = "P2_latent_zb1p_two_samples", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .microbatch_size = 2, .latent = true},
      {.name = "T2P2_latent_zbv", .mesh = {.pipeline = 2, .tensor = 2}, .schedule = "zbv", .chunks = 2, .latent = true},
      {.name = "C2_latent_ring", .mesh = {.context = 2}, .latent = true},
      {.name = "C2_latent_all_gather_recompute", .mesh = {.context = 2}, .recompute = Full, .context_algorithm = AllGather, .latent = true},
      {.name = "C2_latent_all_to_all_two_samples",
       .mesh = {.context = 2},
       .microbatch_size = 2,
       .context_algorithm = AllToAll,
       .latent = true},
      {.name = "C2T2_latent_ring_sequence", .mesh = {.tensor = 2, .context = 2}, .sequence_parallel = true, .latent = true},
      {.name = "C2P2_latent_zb1p_all_gather",
       .mesh = {.pipeline = 2, .context = 2},
       .schedule = "zb-1p",
       .context_algorithm = AllGather,
       .latent = true},
  };
}

std::vector<Composition> of_experts() {
  using enum sim::Recompute;
  using enum sim::Precision;
  using enum sim::ContextAlgorithm;
  return {
      {.name = "D2E2", .mesh = {.data = 2, .expert = 2}, .experts = kDropless},
      {.name = "D2E2_even", .mesh = {.data = 2, .expert = 2}, .experts = even()},
      {.name = "D2E2_recompute", .mesh = {.data = 2, .expert = 2}, .recompute = Full, .experts = even()},
      {.name = "D2E2_padded", .mesh = {.data = 2, .expert = 2}, .experts = limited(sim::ExpertDispatch::Padded, 1.25)},
      {.name = "D2E2_drop", .mesh = {.data = 2, .expert = 2}, .experts = limited(sim::ExpertDispatch::Drop, 0.75)},
      {.name = "D2E2_bf16", .mesh = {.data = 2, .expert = 2}, .precision = Bf16, .experts = even()},
      {.name = "D2E2_reduce_each", .mesh = {.data = 2, .expert = 2}, .accumulation = kEach, .experts = even()},
      {.name = "D2_experts", .mesh = {.data = 2}, .experts = even()},
      {.name = "T2_experts", .mesh = {.tensor = 2}, .experts = even()},
      {.name = "T2_experts_sequence_recompute", .mesh = {.tensor = 2}, .recompute = Full, .sequence_parallel = true, .experts = even()},
      {.name = "P2_experts_zb1p", .mesh = {.pipeline = 2}, .schedule = "zb-1p", .experts = even()},
      {.name = "D4E2", .mesh = {.data = 4, .expert = 2}, .experts = even()},
      {.name = "D4E2_reduce_each", .mesh = {.data = 4, .expert = 2}, .accumulation = kEach, .experts = even()},
      {.name = "D4E4", .mesh = {.data = 4, .expert = 4}, .experts = kDropless},
      {.name = "D4R2_experts", .mesh = {.data = 4, .replicas = 2}, .experts = even()},
      {.name = "D4E2R2", .mesh = {.data = 4, .replicas = 2, .expert = 2}, .experts = even()},
      {.name = "D4E2R2_reduce_each", .mesh = {.data = 4, .replicas = 2, .expert = 2}, .accumulation = kEach, .experts = even()},
      {.name = "D8E2R2", .mesh = {.data = 8, .replicas = 2, .expert = 2}, .experts = even()},
      {.name = "D2E2T2", .mesh = {.data = 2, .tensor = 2, .expert = 2}, .experts = even()},
      {.name = "D2E2T2_sequence_recompute",
       .mesh = {.data = 2, .tensor = 2, .expert = 2},
       .recompute = Full,
       .sequence_parallel = true,
       .experts = kDropless},
      {.name = "D2E2P2", .mesh = {.data = 2, .pipeline = 2, .expert = 2}, .experts = even()},
      {.name = "D2E2P2_zbv", .mesh = {.data = 2, .pipeline = 2, .expert = 2}, .schedule = "zbv", .chunks = 2, .experts = kDropless},
      {.name = "D2E2P2_interleaved_recompute",
       .mesh = {.data = 2, .pipeline = 2, .expert = 2},
       .schedule = "interleaved",
       .chunks = 2,
       .recompute = Full,
       .experts = even()},
      {.name = "D2C2E2_ring", .mesh = {.data = 2, .context = 2, .expert = 2}, .experts = all_experts()},
      {.name = "C2E2_all_to_all_recompute",
       .mesh = {.context = 2, .expert = 2},
       .recompute = Full,
       .context_algorithm = AllToAll,
       .experts = all_experts()},
      {.name = "D4E2P2", .mesh = {.data = 4, .pipeline = 2, .expert = 2}, .experts = even()},
      {.name = "D2E2_latent", .mesh = {.data = 2, .expert = 2}, .latent = true, .experts = even()},
      {.name = "D2E2T2P2_sequence",
       .mesh = {.data = 2, .pipeline = 2, .tensor = 2, .expert = 2},
       .sequence_parallel = true,
       .experts = even()},
  };
}

sim::ModelConfig widened(sim::ModelConfig model) {
  model.hidden = model.ffn = 128;
  model.head_dim = 32;
  return model;
}

sim::PrecisionPolicy with_words(const sim::PrecisionPolicy& policy, const std::string& words) {
  std::vector<sim::Violation> wrong;
  return words.empty() ? policy : sim::parse_precision_policy(to_text(policy) + " " + words, wrong);
}

// All blocks are dealt to the stages in front.
sim::StageCut with_head_alone(const sim::ParallelPlan& plan) {
  sim::PipelineShape in_front = plan.pipeline_shape();
  --in_front.stages;
  sim::StageCut cut = sim::even_cut(plan.model.layers, in_front);
  cut.first.push_back(plan.head());
  return cut;
}

sim::RecomputeScope scope_of(const std::string& text) {
  std::vector<sim::Violation> wrong;
  return sim::parse_recompute_scope(text, wrong);
}

sim::Modules modules_of(const std::string& text) {
  std::vector<sim::Violation> wrong;
  return sim::parse_modules(text, sim::kSentToHost, wrong);
}

sim::Adapters adapters_of(const std::string& text) {
  std::vector<sim::Violation> wrong;
  return sim::parse_adapters(text, wrong).value();
}

sim::FrozenParts frozen_of(const std::string& text) {
  std::vector<sim::Violation> wrong;
  return sim::parse_frozen_parts(text, wrong);
}

}  // namespace

const std::vector<Composition>& compositions() {
  static const std::vector<Composition> all = [] {
    std::vector<Composition> joined;
    for (const auto& some : {of_data_tensor_and_pipeline(),
                             of_breadth_and_slices(),
                             of_wrapping(),
                             of_context(),
                             of_latent_attention(),
                             of_experts(),
                             of_experts_apart(),
                             of_pairs(),
                             of_adapters(),
                             of_frozen_parts(),
                             of_prefetching(),
                             of_recomputation(),
                             of_kept_numbers(),
                             of_full_units(),
                             of_moments(),
                             of_scales(),
                             of_agreed_scales(),
                             of_documents(),
                             of_owners(),
                             of_priority(),
                             of_steps_in_the_backward(),
                             of_small_parameters(),
                             of_host(),
                             of_codecs(),
                             of_networks(),
                             of_long_samples(),
                             of_heads_between_ranks(),
                             of_own_scores(),
                             of_later_heads(),
                             of_modules_on_host()})
      joined.insert(joined.end(), some.begin(), some.end());
    return joined;
  }();
  return all;
}

sim::ModelConfig model_of(const Composition& composition) {
  if (composition.network) return composition.network();
  sim::ModelConfig model = composition.latent ? tiny_deepseek() : composition.experts ? tiny_mixtral() : tiny_gpt2();
  if (composition.wide) model = widened(model);
  if (composition.latent && composition.recompute == sim::Recompute::Selective) model.attention_dropout = 0.1;
  if (composition.experts) model.experts = composition.experts;
  if (!composition.adapters.empty()) model.adapters = adapters_of(composition.adapters);
  model.frozen = frozen_of(composition.frozen);
  return model;
}

sim::ParallelPlan plan_of(const Composition& composition, const sim::ModelConfig& model) {
  sim::ParallelPlan plan = tiny_plan(model, composition.mesh);
  plan.workload.global_batch = composition.global_batch;
  plan.microbatch_size = composition.microbatch_size;
  plan.recompute = composition.recompute;
  plan.recompute_scope = scope_of(composition.recompute_scope);
  plan.accumulation = composition.accumulation;
  plan.sequence_parallel = composition.sequence_parallel;
  plan.expert_overlap = composition.expert_overlap, plan.delay_wgrad = composition.delay_wgrad;
  plan.workload.precision = composition.precision;
  if (composition.scales) plan.workload.precision = plan.workload.precision.with(*composition.scales, /*gathers_scaled=*/false);
  if (composition.fp32_gradients) plan.workload.precision = plan.workload.precision.with(sim::Numbers::Gradients, sim::Precision::Fp32);
  if (composition.wire) plan.workload.precision = plan.workload.precision.with(sim::Numbers::Wire, *composition.wire);
  if (composition.masters) plan.workload.precision = plan.workload.precision.with(sim::Numbers::Masters, *composition.masters);
  if (composition.moments) plan.workload.precision = plan.workload.precision.with(sim::Numbers::Moments, *composition.moments);
  plan.workload.precision = with_words(plan.workload.precision, composition.full_units);
  plan.workload.precision = with_words(plan.workload.precision, composition.codecs);
  plan.zero_stage = composition.zero_stage;
  plan.persistence_threshold = composition.persistence_threshold;
  plan.kept_until = composition.kept_until;
  plan.reshard_after_backward = composition.reshard_after_backward;
  plan.first_bucket_size = composition.first_bucket_size;
  plan.offload_optimizer = composition.offload_optimizer;
  plan.offload_parameters = composition.offload_parameters;
  plan.offload_activations = composition.offload_activations;
  plan.offload_modules = modules_of(composition.offload_modules), plan.offload_least = composition.offload_least;
  plan.delay_head_wgrad = composition.delay_head_wgrad;
  plan.workload.sequence = composition.sequence;
  plan.context_algorithm = composition.context_algorithm;
  plan.context_by_document = composition.context_by_document;
  plan.layers_per_unit = composition.layers_per_unit;
  plan.prefetch = composition.prefetch;
  if (!composition.adapters.empty()) plan.model.adapters = adapters_of(composition.adapters);
  if (!composition.frozen.empty()) plan.model.frozen = frozen_of(composition.frozen);
  if (composition.owners > 0) plan.zero_stage = composition.owners, plan.state_shards = sim::StateShards::Tensors;
  plan.workload.optimizer = composition.optimizer;
  plan.gradient_sync = composition.gradient_sync;
  plan.weight_sync = composition.weight_sync;
  plan.slices = composition.slices;
  plan.passes = composition.passes;
  plan.partition_size = composition.partition_size, plan.credit_size = composition.credit_size;
  if (composition.own_statistics) plan.sync_batch_norm = false;
  plan.optimizer_in_backward = composition.in_backward;
  if (plan.sums_by_priority() || plan.optimizer_in_backward) plan.training.gradient_clip = 0;
  if (plan.mesh.context > 1 || plan.slices > 1) plan.model.attention_dropout = 0;  // violations() says why
  if (composition.documents) plan = with_documents(std::move(plan));
  if (composition.fitted) plan.workload.samples.filling = sim::RowFilling::Fitted;
  plan = with_schedule(plan, composition.schedule, composition.chunks);
  if (composition.head_alone) plan.cut = with_head_alone(plan);
  return plan;
}

}  // namespace parity
