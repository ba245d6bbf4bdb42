#include "sim/model/family.h"

#include <algorithm>
#include <string>

namespace sim {

std::vector<std::span<const Family>> all_families() {
  return {gpt_families(),   llama_families(),  expert_families(), encoder_families(), map_families(),    linear_families(),
          dense_families(), rotary_families(), routed_families(), paired_families(),  hosted_families(), sized_families()};
}

const Family* find_family(std::string_view name) {
  for (const auto families : all_families())
    if (const auto found = std::ranges::find(families, name, &Family::name); found != families.end()) return &*found;
  return nullptr;
}

const Family* family_of_text(std::string_view name) {
  if (const Family* family = find_family(name)) return family;
  return find_family(std::string(name) + "_text");
}

std::optional<std::string_view> key_of(std::string_view name, std::int64_t ModelConfig::*field) {
  const Family* family = find_family(name);
  if (family == nullptr) return std::nullopt;
  for (const auto keys : {family->keys, family->more})
    for (const Key& key : keys)
      if (const auto* size = std::get_if<std::int64_t ModelConfig::*>(&key.field); size != nullptr && *size == field) return key.name;
  return std::nullopt;
}

}  // namespace sim
