#include "sim/recipe/primus.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim {
namespace {

constexpr std::string_view kOverrides = ".overrides.", kNetwork = ".model";

// Of both its pre_trainer.yaml and its base.
constexpr std::pair<std::string_view, std::string_view> kUsualOfPrimus[] = {{"bf16", "true"}, {"use-distributed-optimizer", "true"}};

std::string as_an_argument(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

bool is_of_primus(const std::string& text, std::string_view framework) {
  return begins_as_yaml(text) && text.find(fmt::format("framework: {}", framework)) != std::string::npos &&
         text.find("overrides:") != std::string::npos;
}

PrimusFile primus_file(const RecipeSource& source) {
  PrimusFile file;
  for (RecipeSetting& one : read_yaml(source.text, source.path)) {
    const std::size_t at = one.key.find(kOverrides);
    if (at != std::string::npos)
      file.overrides.push_back({one.key.substr(at + kOverrides.size()), std::move(one.value)});
    else if (one.key.starts_with("modules.") && one.key.ends_with(kNetwork))
      file.network = std::move(one.value);
    else
      file.others.push_back(std::move(one));
  }
  return file;
}

RecipeReading primus_of_megatron(const RecipeSource& source) {
  PrimusFile file = primus_file(source);
  RecipeReading reading;
  for (RecipeSetting& one : file.others) reading.settings.push_back({as_an_argument("primus-" + leaf_of(one.key)), std::move(one.value)});
  for (RecipeSetting& one : file.overrides) reading.settings.push_back({as_an_argument(leaf_of(one.key)), std::move(one.value)});
  std::string taken;
  for (const auto& [name, value] : kUsualOfPrimus) {
    if (first_named(name, reading.settings) != nullptr || (name == "bf16" && first_named("fp16", reading.settings) != nullptr)) continue;
    reading.settings.push_back({std::string(name), std::string(value)});
    taken += fmt::format("{}{}", taken.empty() ? ": taken of it: " : ", ", name);
  }
  reading.unknown.push_back({"config", fmt::format("is Primus' own file, whose other values are not read{}", taken),
                             "see what it sets of degrees, batch and recomputation, where this file does not"});
  if (!file.network.empty())
    reading.unknown.push_back({"model", fmt::format("{} is Primus' own file: the network of the plan is the one of --model", file.network),
                               "see that it is the same"});
  return reading;
}

}  // namespace sim
