// Hugging Face config.json <-> ModelConfig. The keys and their defaults are those of the Transformers configuration classes.
#include <filesystem>

#include "sim/model/family_json.h"
#include "sim/model/model_config.h"
#include "sim/units/json_reader.h"
#include "sim/units/profile_search.h"

namespace sim {
namespace {

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const auto families : {gpt_families(), llama_families(), expert_families(), encoder_families(), map_families(), linear_families()})
    for (const Family& family : families) names.push_back(family.name);
  return names;
}

}  // namespace

const Json& text_of(const Json& config) {
  const bool is_nested = config.is_object() && config.contains("text_config") && config["text_config"].is_object() &&
                         config["text_config"].contains("model_type");
  return is_nested ? config["text_config"] : config;
}

ModelConfig model_config_from_json(const Json& json, const std::string& file) {
  const JsonReader whole(json, file);
  const JsonReader reader = &text_of(json) == &json ? whole : whole.child("text_config");
  const std::vector<std::string_view> names = family_names();
  const std::string_view name = names[reader.choice("model_type", names)];
  reader.finish();  // without a known type the other keys mean nothing
  ModelConfig config = read_by_family(reader, *find_family(name));
  for (const Violation& violation : violations(config)) reader.violate(violation.where, violation.problem, violation.remedy);
  reader.finish();
  return config;
}

std::string model_config_file(const std::string& path_or_name) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path_or_name, unreadable)) return (std::filesystem::path(path_or_name) / "config.json").string();
  return path_or_name.ends_with(".json") ? path_or_name : find_profile(path_or_name, {"models"});
}

ModelConfig load_model_config(const std::string& path_or_name) {
  const std::string path = model_config_file(path_or_name);
  return model_config_from_json(load_json_file(path), path);
}

Json to_json(const ModelConfig& config) {
  const Family* family = find_family(config.model_type);
  return write_by_family(config, family != nullptr ? *family : *find_family("llama"));
}

}  // namespace sim
