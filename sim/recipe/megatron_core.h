// What programs on Megatron-Core call the arguments of Megatron-LM: fields of its configurations, as Python. Megatron-Bridge and NeMo 2 share the rules, the
// network and the table of fields of sim/recipe/megatron_fields.cpp; only names and spellings are theirs.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

enum class CoreProgram : std::uint8_t { Bridge, Nemo };

// A row of Megatron-LM's table under the program's own names: "ddp.bucket_size" for "ddp-bucket-size", found by its last word alone, too.
std::vector<Field> core_fields(CoreProgram which);

void judge_core(const ParallelPlan& plan, Judgement& judgement);
void settle_core(Draft& draft);  // gradients are of fp32 unless a recipe says otherwise
std::optional<ModelConfig> core_network(Draft& draft, const RecipeContext& context);
RecipeReading core_settings(const RecipeSource& source);
std::string core_without_effect(std::string_view own);  // beside Megatron-LM's

// Comments above the recipe, and how it is started.
std::string core_head(const RecipeHead& head, const ParallelPlan& plan, std::string_view file);

// `NAME = dict(...)`, a line for each section of the settings: "model.num_layers" stands in MODEL.
std::string core_sections(const RecipeSettings& settings);
bool has_section(const RecipeSettings& settings, std::string_view name);

}  // namespace sim
