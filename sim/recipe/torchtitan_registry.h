// Dense networks of torchtitan's registry by function ("llama3_8b") and by flavor ("8B" of "llama3"), with what each function sets itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/recipe/program.h"

namespace sim {

struct TorchtitanFunction {
  std::string_view module, flavor, function;
  std::int64_t layers, dim, heads, kv_heads, head_dim, hidden_dim, vocabulary, theta;
  bool is_tied;
  std::int64_t local_batch, sequence;
  std::int32_t tensor;
  bool is_full, is_normed;  // recomputes all; norms queries and keys
};
const TorchtitanFunction* torchtitan_function(std::string_view module, std::string_view name);  // null: none of these
ModelConfig network_of(const TorchtitanFunction& function);

const TorchtitanFunction* function_of(const Draft& draft);  // that a file starts from; null: none of these
std::optional<ModelConfig> torchtitan_network(Draft& draft, const RecipeContext& context);

extern const std::string_view kTorchtitanWithoutEffect;  // names that change neither time nor memory
std::span<const LostSetting> torchtitan_lost();          // that do, and have no word in a plan

}  // namespace sim
