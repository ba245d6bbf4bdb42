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

}  // namespace

std::vector<Composition> of_long_samples() {
  std::vector<Composition> all;
  const auto add = [&](const char* name, sim::ModelConfig (*network)()) {
    for (const std::int64_t samples : {1, 4})
      all.push_back({.name = std::string("D1_long_") + name + (samples > 1 ? "_four_samples" : ""),
                     .mesh = {},
                     .microbatch_size = samples,
                     .sequence = kLong,
                     .network = network});
  };
  add("relus", relus);
  add("squared_relus", squared_relus);
  add("gelu_gates", gelu_gates);
  add("relu_gates", relu_gates);
  add("gates_of_shared_experts", gates_of_shared_experts);
  add("parallel_blocks", parallel_blocks);
  add("windows_both_ways", windows_both_ways);
  add("distances", distances);
  return all;
}

}  // namespace parity
