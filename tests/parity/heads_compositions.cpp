// Attention whose heads tensor ranks meet for: norms over all heads, and key/value heads that several ranks share. And scores that are not plain ones, of ranks
// that pass keys on, and of slices.
#include "tests/parity/step_compositions.h"

namespace parity {

sim::ModelConfig norms_of_all_heads() {
  sim::ModelConfig model = tiny_llama();
  model.model_type = "olmo2";
  model.qk_norm = sim::QkNorm::Joint;
  model.norm_place = sim::NormPlace::Behind;
  return model;
}

sim::ModelConfig one_key_head() {
  sim::ModelConfig model = tiny_llama();
  model.kv_heads = 1;
  return model;
}

// Each head is normed by itself, once it is whole.
sim::ModelConfig normed_key_head() {
  sim::ModelConfig model = one_key_head();
  model.model_type = "qwen3";
  model.qk_norm = sim::QkNorm::Heads;
  return model;
}

sim::ModelConfig caps_and_windows() {
  sim::ModelConfig model = tiny_llama();
  model.model_type = "gemma2";
  model.activation = sim::Activation::GeluTanh;
  model.norm_place = sim::NormPlace::Around;
  model.offset_norm = true;
  model.tied_embeddings = true;
  model.embedding_factor = 5;
  model.score_cap = 2;
  model.logit_cap = 3;
  model.score_scale = 11;
  model.window = 5;
  model.windowed = {true, false, true, false};
  return model;
}

namespace {

using enum sim::ContextAlgorithm;

void add_meeting_heads(std::vector<Composition>& all) {
  constexpr auto kFull = sim::Recompute::Full;
  const auto add = [&](Composition one, const char* name, sim::ModelConfig (*network)(), const char* more = "") {
    one.name += std::string("_") + name + more;
    one.network = network;
    all.push_back(std::move(one));
  };
  const auto add_beside_others = [&](const char* name, sim::ModelConfig (*network)()) {
    add({.name = "T2", .mesh = {.tensor = 2}}, name, network);
    add({.name = "T2", .mesh = {.tensor = 2}, .microbatch_size = 2, .recompute = kFull, .sequence_parallel = true}, name, network,
        "_sequence_two_samples_recompute");
    add({.name = "T2", .mesh = {.tensor = 2}, .slices = 2}, name, network, "_slices2");
    add({.name = "T2", .mesh = {.tensor = 2}, .documents = true}, name, network, "_documents");
    add({.name = "D2T2",
         .mesh = {.data = 2, .tensor = 2},
         .accumulation = kEach,
         .sequence_parallel = true,
         .precision = sim::Precision::Bf16},
        name, network, "_sequence_reduce_each_bf16");
    add({.name = "C2T2", .mesh = {.tensor = 2, .context = 2}, .sequence_parallel = true}, name, network, "_ring_sequence");
    add({.name = "T2P2", .mesh = {.pipeline = 2, .tensor = 2}, .schedule = "zb-1p"}, name, network, "_zb1p");
  };
  add_beside_others("norms_of_all_heads", norms_of_all_heads);
  add_beside_others("one_key_head", one_key_head);
  add({.name = "T2", .mesh = {.tensor = 2}}, "normed_key_head", normed_key_head);
  add({.name = "C2T2", .mesh = {.tensor = 2, .context = 2}, .context_algorithm = AllGather}, "normed_key_head", normed_key_head,
      "_all_gather");
  add({.name = "T4", .mesh = {.tensor = 4}, .sequence_parallel = true}, "two_key_heads", tiny_llama, "_sequence");
  add({.name = "T2", .mesh = {.tensor = 2}, .scales = sim::ScaleRecipe::Delayed}, "one_key_head", one_key_head, "_fp8_delayed");
  add({.name = "T2", .mesh = {.tensor = 2}, .adapters = kAdapters}, "one_key_head", one_key_head, "_adapters");
}

void add_passed_keys(std::vector<Composition>& all) {
  const auto add = [&](Composition one, sim::ContextAlgorithm algorithm, sim::ModelConfig (*network)()) {
    one.context_algorithm = algorithm;
    one.network = network;
    all.push_back(std::move(one));
  };
  add({.name = "C2_windows_ring", .mesh = {.context = 2}}, Ring, windows_and_sinks);
  add({.name = "C2_windows_ring_two_samples_bf16", .mesh = {.context = 2}, .microbatch_size = 2, .precision = sim::Precision::Bf16}, Ring,
      windows_and_sinks);
  add({.name = "C2_windows_ring_documents", .mesh = {.context = 2}, .documents = true}, Ring, windows_and_sinks);
  add({.name = "C2_windows_all_gather_recompute", .mesh = {.context = 2}, .recompute = sim::Recompute::Full}, AllGather, windows_and_sinks);
  add({.name = "C4_windows_near_2_hierarchical", .mesh = {.context = 4, .context_inner = 2}, .sequence = 16}, Hierarchical,
      windows_and_sinks);
  add({.name = "C2T2_windows_ring_sequence", .mesh = {.tensor = 2, .context = 2}, .sequence_parallel = true}, Ring, windows_and_sinks);
  add({.name = "C2P2_windows_ring_zb1p", .mesh = {.pipeline = 2, .context = 2}, .schedule = "zb-1p"}, Ring, windows_and_sinks);
  add({.name = "C2_caps_ring", .mesh = {.context = 2}}, Ring, caps_and_windows);
  add({.name = "D2C2_caps_ring_reduce_each", .mesh = {.data = 2, .context = 2}, .accumulation = kEach}, Ring, caps_and_windows);
  add({.name = "C2_norms_behind_the_turn_ring", .mesh = {.context = 2}}, Ring, norms_behind_the_turn);
  add({.name = "C4_norms_behind_the_turn_near_2_hierarchical", .mesh = {.context = 4, .context_inner = 2}, .sequence = 16}, Hierarchical,
      norms_behind_the_turn);
  add({.name = "C2_masked_ring", .mesh = {.context = 2}}, Ring, tiny_bert);
  add({.name = "P2_slices2_norms_behind_the_turn_1f1b", .mesh = {.pipeline = 2}, .slices = 2}, Ring, norms_behind_the_turn);
}

}  // namespace

std::vector<Composition> of_heads_between_ranks() {
  std::vector<Composition> all;
  add_meeting_heads(all);
  add_passed_keys(all);
  return all;
}

}  // namespace parity
