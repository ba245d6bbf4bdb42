// Networks of torchtitan's registry by flavor ("8B" of "llama3"), and its functions ("llama3_8b") with what each sets itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/recipe/program.h"

namespace sim {

std::optional<ModelConfig> torchtitan_flavor(std::string_view module, std::string_view flavor);  // nothing: none of these

struct TorchtitanFunction {
  std::string_view name, module, flavor;
  std::int64_t local_batch, sequence;
  double learning_rate;
  std::int32_t tensor = 1;
  std::int32_t expert = 1;
  Recompute recompute = Recompute::Selective;  // of operators
  std::string_view schedule = "1f1b";          // where the file asks for stages
  std::optional<ScaleRecipe> scales{};         // of its products in 8 bit
  bool sends_along_products = false;
  std::string_view lost{};  // what it sets besides and no plan says
};
const TorchtitanFunction* torchtitan_function(std::string_view name);  // null: none of these
const TorchtitanFunction* function_of(const Draft& draft);             // that a file starts from; null: none of these
std::optional<ModelConfig> torchtitan_network(Draft& draft, const RecipeContext& context);

extern const std::string_view kTorchtitanWithoutEffect;  // names that change neither time nor memory
std::span<const LostSetting> torchtitan_lost();          // that do, and have no word in a plan

}  // namespace sim
