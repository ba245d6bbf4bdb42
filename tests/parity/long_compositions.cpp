#include "tests/parity/step_compositions.h"

namespace parity {
namespace {

constexpr std::int64_t kLong = 96;  // tokens: what a segment keeps is most of a rank's memory, and what is kept once too often shows

sim::ModelConfig longer(sim::ModelConfig model) {
  model.max_positions = 2 * kLong;
  model.embedding_dropout = model.residual_dropout = model.attention_dropout = 0;
  return model;
}

sim::ModelConfig with_activation(sim::ModelConfig model, sim::Activation activation) {
  model = longer(std::move(model));
  model.activation = activation;
  return model;
}

sim::ModelConfig relus() { return with_activation(tiny_gpt2(), sim::Activation::Relu); }
sim::ModelConfig squared_relus() { return with_activation(tiny_gpt2(), sim::Activation::SquaredRelu); }
sim::ModelConfig gelu_gates() { return with_activation(tiny_llama(), sim::Activation::GeluTanh); }
sim::ModelConfig relu_gates() { return with_activation(tiny_llama(), sim::Activation::Relu); }

sim::ModelConfig gates_of_shared_experts() {
  sim::ModelConfig model = longer(tiny_mixtral());
  model.experts = even();
  model.experts->shared_gate = true;
  return model;
}

// Each half has a norm of its own, of the same stream.
sim::ModelConfig parallel_blocks() {
  sim::ModelConfig model = longer(tiny_gpt2());
  model.parallel_blocks = true;
  return model;
}

// Feed-forwards are narrow, so that most is alive while attention goes backward.
sim::ModelConfig narrow_parallel_blocks() {
  sim::ModelConfig model = parallel_blocks();
  model.ffn = 32;
  return model;
}

// Scores are made by hand, of heads that are wider together than the stream.
sim::ModelConfig windows() {
  sim::ModelConfig model = longer(tiny_llama());
  model.model_type = "mistral";
  model.head_dim = 16;
  model.window = kLong / 4;
  return model;
}

sim::ModelConfig wide_experts() {
  sim::ModelConfig model = longer(tiny_mixtral());
  model.experts = even();
  model.experts->expert_ffn = 64;
  return model;
}

sim::ModelConfig masked() { return longer(tiny_bert()); }

sim::ModelConfig windows_both_ways() {
  sim::ModelConfig model = longer(tiny_bert());
  model.window = kLong / 4;
  return model;
}

sim::ModelConfig distances() {
  sim::ModelConfig model = longer(tiny_t5());
  model.source_tokens = kLong / 2;
  return model;
}

// Ranks that deal heads out attend by scores of their own, as one rank does.
std::vector<Composition> of_dealt_heads() {
  using enum sim::ContextAlgorithm;
  return {
      {.name = "C2_long_windows_all_to_all", .mesh = {.context = 2}, .context_algorithm = AllToAll, .sequence = kLong, .network = windows},
      {.name = "C2_long_windows_all_to_all_recompute",
       .mesh = {.context = 2},
       .recompute = sim::Recompute::Full,
       .context_algorithm = AllToAll,
       .sequence = kLong,
       .network = windows},
      {.name = "C2_long_windows_all_to_all_two_samples_bf16",
       .mesh = {.context = 2},
       .microbatch_size = 2,
       .precision = sim::Precision::Bf16,
       .context_algorithm = AllToAll,
       .sequence = kLong,
       .network = windows},
      {.name = "C2_long_masked_all_to_all", .mesh = {.context = 2}, .context_algorithm = AllToAll, .sequence = kLong, .network = masked},
      {.name = "C2T2_long_windows_both_ways_all_to_all_sequence",
       .mesh = {.tensor = 2, .context = 2},
       .sequence_parallel = true,
       .context_algorithm = AllToAll,
       .sequence = kLong,
       .network = windows_both_ways},
  };
}

}  // namespace

std::vector<Composition> of_long_samples() {
  std::vector<Composition> all = of_dealt_heads();
  const auto add = [&](const char* name, sim::ModelConfig (*network)()) {
    for (const std::int64_t samples : {1, 4})
      all.push_back({.name = std::string("D1_long_") + name + (samples > 1 ? "_four_samples" : ""),
                     .mesh = {},
                     .microbatch_size = samples,
                     .sequence = kLong,
                     .network = network});
  };
  const auto add_recomputed = [&](const char* name, sim::ModelConfig (*network)()) {
    add(name, network);
    Composition again = *std::prev(all.end(), 2);
    again.name += "_recompute";
    again.recompute = sim::Recompute::Full;
    all.push_back(std::move(again));
  };
  add("relus", relus);
  add("squared_relus", squared_relus);
  add("gelu_gates", gelu_gates);
  add("relu_gates", relu_gates);
  add("gates_of_shared_experts", gates_of_shared_experts);
  add("parallel_blocks", parallel_blocks);
  add_recomputed("narrow_parallel_blocks", narrow_parallel_blocks);
  add_recomputed("windows", windows);
  add_recomputed("wide_experts", wide_experts);
  add_recomputed("masked", masked);
  add("windows_both_ways", windows_both_ways);
  add("distances", distances);
  return all;
}

}  // namespace parity
