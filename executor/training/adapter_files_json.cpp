#include <algorithm>

#include "executor/training/adapter_files.h"
#include "sim/units/json_reader.h"

namespace executor {
namespace {

// What would be another function than the plan's adapters, where it is anything but false, empty or null.
constexpr std::string_view kOtherAdapters[] = {
    "use_rslora", "use_dora", "modules_to_save", "rank_pattern", "alpha_pattern", "layers_to_transform", "layer_replication", "lora_bias"};

bool says_nothing(const sim::Json& value) { return value.is_null() || value == false || value.empty(); }

}  // namespace

AdapterConfig load_adapter_config(const std::string& path) {
  const sim::Json json = sim::load_json_file(path);
  const sim::JsonReader reader(json, path);
  AdapterConfig config;
  if (reader.text("peft_type", "LORA") != "LORA") reader.violate("peft_type", "is no LORA", "give low-rank adapters");
  if (reader.text("bias", "none") != "none") reader.violate("bias", "is trained, too", "give adapters alone: bias none");
  config.rank = reader.integer("r", 8, {1, 1e6});
  const double alpha = reader.number("lora_alpha", 8);
  config.alpha = static_cast<std::int64_t>(alpha);
  if (static_cast<double>(config.alpha) != alpha || alpha < 1)
    reader.violate("lora_alpha", "is no whole number from 1 on", "the plan's alpha is one");
  for (const std::string_view key : kOtherAdapters)
    if (const auto found = json.find(std::string(key)); found != json.end() && !says_nothing(*found))
      reader.violate(std::string(key), "makes them other adapters than a plan can say", "give adapters without it");
  config.transposed = reader.boolean("fan_in_fan_out", false);
  for (const sim::JsonReader& module : reader.children("target_modules"))
    if (module.json().is_string())
      config.modules.push_back(module.json().get<std::string>());
    else
      module.violate("", "is no text", "name a linear layer, like q_proj");
  config.base = reader.text("base_model_name_or_path", "");
  reader.finish();
  return config;
}

void save_adapter_config(const AdapterConfig& config, const std::string& path) {
  sim::Json json;
  json["peft_type"] = "LORA";
  json["task_type"] = "CAUSAL_LM";
  json["base_model_name_or_path"] = config.base.empty() ? sim::Json(nullptr) : sim::Json(config.base);
  json["r"] = config.rank;
  json["lora_alpha"] = config.alpha;
  json["lora_dropout"] = 0.0;
  json["target_modules"] = config.modules;
  json["bias"] = "none";
  json["fan_in_fan_out"] = config.transposed;
  json["inference_mode"] = true;
  json["init_lora_weights"] = true;
  json["modules_to_save"] = nullptr;
  sim::save_json_file(json, path);
}

}  // namespace executor
