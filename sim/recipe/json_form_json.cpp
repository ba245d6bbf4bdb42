#include "sim/recipe/settings.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

void flatten_json(const std::string& prefix, const Json& value, RecipeSettings& settings) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten_json(prefix.empty() ? key : prefix + "." + key, inner, settings);
    return;
  }
  settings.push_back({prefix, value.is_string() ? value.get<std::string>() : value.dump()});
}

Json& place_of(Json& root, const std::string& key) {
  Json* place = &root;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    place = &(*place)[key.substr(begin, end - begin)];
    begin = end + 1;
  }
  return *place;
}

}  // namespace

std::string json_text(const RecipeHead& head, const RecipeSettings& settings) {
  Json json;
  json["_meshwright"] = {{"made", head.title}, {"notes", head.remarks}};
  for (const RecipeSetting& setting : settings)
    place_of(json, setting.key) = is_literal(setting.value) ? parse_json(setting.value, setting.key) : Json(setting.value);
  return json.dump(2) + "\n";
}

RecipeSettings read_json(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  if (!json.is_object()) throw InputError(file, {{"", "is no JSON object", "give a configuration as {\"key\": value}"}});
  RecipeSettings settings;
  for (const auto& [key, value] : json.items())
    if (key != "_meshwright") flatten_json(key, value, settings);
  if (settings.size() > kMostSettings) throw InputError(file, {{"", "has more than 10000 settings", "give one configuration"}});
  return settings;
}

}  // namespace sim
