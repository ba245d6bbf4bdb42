#include "tests/parity/step_compositions.h"

namespace parity {
namespace {

sim::ExpertForm routed_behind_one() {
  sim::ExpertForm form = all_experts();
  form.shared_experts = form.shared_ffn = 0;
  form.score = sim::RouterScore::Sigmoid;
  form.score_correction = true;
  return form;
}

}  // namespace

sim::ModelConfig windows_and_sinks() {
  sim::ModelConfig model = tiny_llama();
  model.model_type = "granite_swa";
  model.sinks = true;
  model.score_scale = 4;
  model.window = 3;
  model.windowed = {false, true, true, true};
  return model;
}

sim::ModelConfig norms_behind_the_turn() {
  sim::ModelConfig model = tiny_llama();
  model.model_type = "hunyuan_v1_dense";
  model.qk_norm = sim::QkNorm::Turned;
  return model;
}

// Laguna's: heads by block, each weighed by a number of the token.
sim::ModelConfig gated_heads() {
  sim::ModelConfig model = tiny_llama();
  model.model_type = "laguna";
  model.qk_norm = sim::QkNorm::Heads;
  model.rope_theta = 500000;
  model.local_rope_theta = 10000;
  model.rotary_share = 0.5;
  model.head_dim = 8;
  model.attention_gate = model.head_gate = model.softplus_gate = true;
  model.window = 3;
  model.windowed = {false, true, true, true};
  model.experts = routed_behind_one();
  const sim::BlockSizes few{.heads = 4, .kv_heads = 2, .head_dim = 8, .ffn = 40}, many{.heads = 8, .kv_heads = 2, .head_dim = 8, .ffn = 40};
  model.sizes = {few, many, few, many};
  return model;
}

// MiMo-V2-Flash's: narrower than keys, and multiplied by a factor; more heads of keys in windows, which have sinks.
sim::ModelConfig narrow_values() {
  sim::ModelConfig model = tiny_llama();
  model.model_type = "mimo_v2_flash";
  model.norm_epsilon = 1e-5;
  model.head_dim = 8;
  model.value_dim = 6;
  model.value_factor = 0.707;
  model.local_rope_theta = 10000;
  model.rotary_share = model.local_rotary_share = 0.5;
  model.sinks = model.sinks_in_windows = true;
  model.window = 3;
  model.windowed = {false, true, true, false};
  model.experts = routed_behind_one();
  const sim::BlockSizes whole{.heads = 4, .kv_heads = 2, .head_dim = 8, .ffn = 40},
      window{.heads = 4, .kv_heads = 4, .head_dim = 8, .ffn = 40};
  model.sizes = {whole, window, window, whole};
  return model;
}

namespace {

// As many heads of keys as tensor ranks and context ranks deal out together.
sim::ModelConfig dealt_windows() {
  sim::ModelConfig model = windows_and_sinks();
  model.kv_heads = model.heads;
  return model;
}
sim::ModelConfig dealt_norms() {
  sim::ModelConfig model = norms_behind_the_turn();
  model.kv_heads = model.heads;
  return model;
}

// Slices are not lowered for windows.
sim::ModelConfig without_windows(sim::ModelConfig model) {
  model.window = 0;
  model.windowed.assign(model.windowed.size(), false);
  model.sinks = false;
  return model;
}
sim::ModelConfig sliced_gates() { return without_windows(gated_heads()); }
sim::ModelConfig sliced_values() { return without_windows(narrow_values()); }

// Gates stay with the tokens; values travel as wide as they are.
std::vector<Composition> of_own_heads() {
  using enum sim::ContextAlgorithm;
  constexpr auto kBf16 = sim::Precision::Bf16;
  constexpr auto kFull = sim::Recompute::Full;
  return {
      {.name = "C2_gated_heads_ring", .mesh = {.context = 2}, .network = gated_heads},
      {.name = "C2_gated_heads_all_to_all_recompute",
       .mesh = {.context = 2},
       .recompute = kFull,
       .context_algorithm = AllToAll,
       .network = gated_heads},
      {.name = "C2_gated_heads_all_gather_two_samples_bf16",
       .mesh = {.context = 2},
       .microbatch_size = 2,
       .precision = kBf16,
       .context_algorithm = AllGather,
       .network = gated_heads},
      {.name = "C4_gated_heads_near_2_hierarchical",
       .mesh = {.context = 4, .context_inner = 2},
       .context_algorithm = Hierarchical,
       .sequence = 16,
       .network = gated_heads},
      {.name = "C2T2_gated_heads_ring_sequence", .mesh = {.tensor = 2, .context = 2}, .sequence_parallel = true, .network = gated_heads},
      {.name = "C2P2_gated_heads_zb1p_ring", .mesh = {.pipeline = 2, .context = 2}, .schedule = "zb-1p", .network = gated_heads},
      {.name = "P2_slices2_gated_heads_1f1b", .mesh = {.pipeline = 2}, .slices = 2, .network = sliced_gates},
      {.name = "D1_gated_heads", .mesh = {}, .network = gated_heads},
      {.name = "C2_narrow_values_ring", .mesh = {.context = 2}, .network = narrow_values},
      {.name = "C2_narrow_values_all_gather_recompute",
       .mesh = {.context = 2},
       .recompute = kFull,
       .context_algorithm = AllGather,
       .network = narrow_values},
      {.name = "C2_narrow_values_all_to_all", .mesh = {.context = 2}, .context_algorithm = AllToAll, .network = narrow_values},
      {.name = "D2C2_narrow_values_ring", .mesh = {.data = 2, .context = 2}, .precision = kBf16, .network = narrow_values},
      {.name = "P2_slices2_narrow_values_gpipe", .mesh = {.pipeline = 2}, .schedule = "gpipe", .slices = 2, .network = sliced_values},
  };
}

}  // namespace

// Scores and norms that a rank makes of the heads that it has been dealt: beside each other way to cut a training.
std::vector<Composition> of_own_scores() {
  std::vector<Composition> all;
  const auto add_beside_others = [&](const char* name, sim::ModelConfig (*network)()) {
    const auto add = [&](Composition one, const char* more) {
      one.name += std::string("_") + name + more;
      one.context_algorithm = sim::ContextAlgorithm::AllToAll;
      one.network = network;
      all.push_back(std::move(one));
    };
    add({.name = "C2", .mesh = {.context = 2}, .documents = true}, "_documents");
    add({.name = "D2C2", .mesh = {.data = 2, .context = 2}, .accumulation = kEach}, "_reduce_each");
    add({.name = "C2T2", .mesh = {.tensor = 2, .context = 2}, .recompute = sim::Recompute::Full, .sequence_parallel = true},
        "_sequence_recompute");
    add({.name = "C2P2", .mesh = {.pipeline = 2, .context = 2}, .schedule = "zb-1p", .recompute = sim::Recompute::Full}, "_zb1p_recompute");
    add({.name = "C2P2", .mesh = {.pipeline = 2, .context = 2}, .schedule = "zbv", .chunks = 2}, "_zbv");
  };
  add_beside_others("windows", dealt_windows);
  add_beside_others("norms_behind_the_turn", dealt_norms);
  for (Composition& one : of_own_heads()) all.push_back(std::move(one));
  return all;
}

}  // namespace parity
