// What the parts of torchtitan's recipe share: its table of settings, and the networks that its own builders can make.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/recipe/program.h"

namespace sim {

struct NamedSchedule {
  std::string_view ours, theirs;
  bool takes_chunks = false;  // several a stage, in an order of PyTorch's own
};
const NamedSchedule* named_schedule(const ParallelPlan& plan);  // null: PyTorch has no name for it
bool has_stages(const ParallelPlan& plan);
bool takes_chunks(const ParallelPlan& plan);
bool goes_as_csv(const ParallelPlan& plan);
inline constexpr std::string_view kOptionOfToml = "activation_checkpoint.selective_ac_option";  // the Python class has none
inline constexpr std::string_view kIsOfToml = "training.is_of_toml";  // no word of a file: it is of a release that read TOML
Written written_recomputation(const ParallelPlan& plan);
std::span<const Field> torchtitan_fields();

// A kind of network that a recipe builds in any size, in Python by torchtitan's own parts. The sizes stand in the recipe as SIZES and ROPE.
struct TorchtitanKind {
  std::string_view name;      // "qwen3": of SIZES, and of the package under torchtitan.models
  std::string_view function;  // of its registry: rates, data, and how the network is cut over ranks
  std::string_view rope, model;
  std::string_view parts;    // of the program, that the layers are made of: import lines
  std::string_view helpers;  // Python in front of `network`
  std::string_view layers;   // Python that makes `layers`
  std::string_view words;    // of model_words() that it can say
};
const TorchtitanKind& torchtitan_kind(const ModelConfig& model);  // the nearest
std::string network_imports(const TorchtitanKind& kind);
std::string network_builder(const TorchtitanKind& kind);                     // def network(sizes)
void refuse_other_networks(const ModelConfig& model, Judgement& judgement);  // what that kind cannot say
std::optional<ModelConfig> network_of_sizes(const Draft& draft);             // nothing: the recipe has no sizes

}  // namespace sim
