// Files that a recipe names. One that the recipe writes itself is read from its text; another stands beside the recipe, and no other path is opened.
#pragma once

#include <optional>

#include "sim/recipe/program.h"

namespace sim {

// Throws InputError that names the setting: a variable that is open, or no such file beside it.
std::string text_beside(const RecipeSource& source, const RecipeReading& reading, const RecipeSetting& named);

// What a file says, under what the line says that names it.
void put_below(RecipeReading& reading, RecipeSettings of_file);

// Another script that one sources or starts, by the name of its file; nothing: it is not beside the recipe, or too long.
std::optional<std::string> script_beside(const std::string& recipe, const std::string& named);
// `train.py configs/run.yaml`, `train -c run.yaml`: a configuration that is no long option's value, as the setting "config".
std::optional<RecipeSetting> bare_configuration(const std::string& command);

}  // namespace sim
