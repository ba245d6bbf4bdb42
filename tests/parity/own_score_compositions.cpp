#include "tests/parity/step_compositions.h"

namespace parity {

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
  return all;
}

}  // namespace parity
