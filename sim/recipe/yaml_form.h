// YAML whose values name others, for whoever changes some of them before they are filled in.
#pragma once

#include "sim/recipe/settings.h"

namespace sim {

RecipeSettings read_yaml_as_it_stands(const std::string& text, const std::string& file);  // throws as read_yaml() does
void fill_references(RecipeSettings& settings);                                           // ${a.b}, ${.b}, ${multiply:4, ${.b}}

}  // namespace sim
