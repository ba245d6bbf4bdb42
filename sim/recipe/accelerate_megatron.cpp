// Facts: accelerate/utils/{launch,dataclasses}.py (MegatronLMPlugin), accelerate/commands/launch.py (huggingface/accelerate, 1.15.0).
#include "sim/recipe/accelerate_megatron.h"

#include <algorithm>

#include "sim/recipe/program.h"

namespace sim {
namespace {

constexpr std::string_view kPrefix = "megatron-lm-";
constexpr Renaming kPluginNames[] = {
    {"tp-degree", "", "tensor-model-parallel-size", ""},
    {"pp-degree", "", "pipeline-model-parallel-size", ""},
    {"num-micro-batches", "", "gradient-accumulation-steps", ""},
    {"sequence-parallelism", "", "sequence-parallel", ""},
    {"gradient-clipping", "", "clip-grad", ""},
    {"use-custom-fsdp", "", "use-megatron-fsdp", ""},
    {"recompute-granularity", "no", "no-recompute", ""},
};
constexpr Renaming kLauncherNames[] = {
    {"mixed-precision", "bf16", "bf16", "true"},
    {"mixed-precision", "fp16", "fp16", "true"},
    {"mixed-precision", "fp8", "fp8-format", "hybrid"},
    {"num-processes", "", "nproc-per-node", ""},  // of all nodes
};

std::string last_word(const std::string& key) {
  std::string name = leaf_of(key);
  std::ranges::replace(name, '_', '-');
  return name;
}

// What Accelerate's own table has no effect for is none of Megatron's business.
bool is_of_the_launcher(const std::string& key) {
  return key != "num_processes" && key != "mixed_precision" && !key.starts_with("per_device") && is_known_to(kAccelerate, key) &&
         !last_word(key).starts_with(kPrefix);
}

}  // namespace

bool is_of_accelerate_megatron(const RecipeSettings& settings) {
  return std::ranges::any_of(settings, [](const RecipeSetting& one) { return last_word(one.key).starts_with(kPrefix); });
}

void take_accelerate_megatron(RecipeReading& reading) {
  RecipeSettings arguments;
  for (const RecipeSetting& setting : reading.settings) {
    const std::string name = last_word(setting.key);
    if (is_of_the_launcher(setting.key) || name == "use-megatron-lm") continue;
    if (name == "mixed-precision" && setting.value == "no") continue;
    const RecipeSetting plain{name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name, setting.value};
    const auto named = name.starts_with(kPrefix) ? renamed(plain, kPluginNames) : renamed(plain, kLauncherNames);
    if (setting.value != "null") arguments.push_back(named.value_or(plain));
  }
  if (first_named("context-parallel-size", arguments) == nullptr)
    reading.unknown.push_back({"megatron_lm_context_parallel_size",
                               "is not given: taken as 1; Accelerate 1.15 takes 2 by itself, earlier releases have no such degree",
                               "give it"});
  if (first_named("recompute-granularity", arguments) == nullptr && first_named("recompute-activations", arguments) == nullptr)
    reading.unknown.push_back({"megatron_lm_recompute_granularity",
                               "is not given: nothing is recomputed here; Accelerate 1.15 takes full by itself, earlier releases none",
                               "give it"});
  reading.settings = std::move(arguments);
}

}  // namespace sim
