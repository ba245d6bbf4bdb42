// The network that arguments of Megatron-LM describe. Nothing: they name none.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

// Latent attention turns by YaRN there; beside factor and scales its numbers have no arguments and are those of DeepSeek (MLATransformerConfig of megatron-core).
bool is_yarn_of_megatron(const ModelConfig& model);

std::optional<ModelConfig> megatron_network(Draft& draft, const RecipeContext& context);

inline bool is_by_megatron_fsdp(const ParallelPlan& plan) { return plan.zero_stage >= 2; }
inline constexpr Bytes kOneBucket{std::int64_t{1} << 50};  // of gradients that are reduced at once, when all are there
std::span<const Field> megatron_fields();
extern const std::string_view kMegatronWithoutEffect;  // names of arguments that change neither time nor memory
std::span<const LostSetting> megatron_lost();          // that do, and have no word in a plan

}  // namespace sim
