// Files that a recipe names. One that the recipe writes itself is read from its text; another stands beside the recipe, and no other path is opened.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

// Throws InputError that names the setting: a variable that is open, or no such file beside it.
std::string text_beside(const RecipeSource& source, const RecipeReading& reading, const RecipeSetting& named);

}  // namespace sim
