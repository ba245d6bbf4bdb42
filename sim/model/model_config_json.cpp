// Hugging Face config.json <-> ModelConfig. The keys and their defaults are those of the Transformers configuration classes.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sim/model/family_json.h"
#include "sim/model/model_config.h"
#include "sim/model/unread_networks.h"
#include "sim/units/json_reader.h"
#include "sim/units/near_name.h"
#include "sim/units/profile_search.h"

namespace sim {
namespace {

// Names of networks are near each other (roc_bert, roberta) that are not: most of those that are not read are spelt rightly.
std::string remedy_for(const std::string& name, const std::vector<std::string>& names) {
  const std::string otherwise = "give the config.json of a network of the same form";
  const std::string near = near_name_remedy(name, names, otherwise);
  return near == otherwise ? near : near + " If the name is right, that is another network: " + otherwise;
}

// Its name is the key to all others: without a known one nothing else is told.
const Family& family_of(const JsonReader& reader) {
  const std::string name = reader.text("model_type");
  reader.finish();
  if (const Family* family = family_of_text(name)) return *family;
  if (const std::optional<std::string_view> why = why_unread(name)) {
    reader.violate("model_type", fmt::format("is \"{}\", which has {}: it is not supported", name, *why),
                   "give the config.json of a network of the same form");
    reader.finish();
  }
  std::vector<std::string> names;
  for (const auto families : all_families())
    for (const Family& family : families) names.emplace_back(family.name);
  reader.violate("model_type",
                 fmt::format("is \"{}\", which is none of the {} families that are read (docs/families.md)", name, names.size()),
                 remedy_for(name, names));
  reader.finish();
  return *find_family("llama");
}

// Outside of strings, null in the place of each: as many characters, so that a fault is told at its column.
std::string without_python_numbers(std::string text) {
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (in_string && text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      in_string = !in_string;
    else if (!in_string)
      for (const std::string_view name : {"-Infinity", "Infinity", "NaN"})
        if (std::string_view(text).substr(at).starts_with(name))
          text.replace(at, name.size(), name == "NaN" ? "null" : "null" + std::string(name.size() - 4, ' '));
  }
  return text;
}

}  // namespace

const Json& text_of(const Json& config) {
  const Json* text = &config;
  for (const std::string& key : path_of_text(config)) text = &(*text)[key];
  return *text;
}

ModelConfig model_config_from_json(const Json& json, const std::string& file) {
  JsonReader reader(json, file);
  const std::vector<std::string> path = path_of_text(json);
  for (const std::string& key : path) reader = reader.child(key);
  ModelConfig config = read_by_family(reader, family_of(reader), !path.empty());
  const bool says = reader.has(std::string(kTied));
  if (const std::optional<bool> tied = tied_around(json); tied && !says) config.tied_embeddings = *tied;
  for (const Violation& violation : violations(config)) reader.violate(violation.where, violation.problem, violation.remedy);
  reader.finish();
  return config;
}

std::string model_config_file(const std::string& path_or_name) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path_or_name, unreadable)) return (std::filesystem::path(path_or_name) / "config.json").string();
  return path_or_name.ends_with(".json") ? path_or_name : find_profile(path_or_name, {"models"});
}

Json load_config_json(const std::string& path) { return parse_json(without_python_numbers(load_text_file(path)), path); }

ModelConfig load_model_config(const std::string& path_or_name) {
  const std::string path = model_config_file(path_or_name);
  return model_config_from_json(load_config_json(path), path);
}

Json to_json(const ModelConfig& config) {
  const Family* family = find_family(config.model_type);
  return write_by_family(config, family != nullptr ? *family : *find_family("llama"));
}

}  // namespace sim
