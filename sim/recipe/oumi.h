// Oumi: YAML in sections, whose words are mostly the Trainer's.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

bool is_of_oumi(const RecipeSettings& settings);
RecipeSettings arguments_of_oumi(const RecipeSettings& settings);  // of the Trainer

}  // namespace sim
