// What `export --to` and `import` tell people: the files, and everything that did not go with them.
#pragma once

#include <string>

#include "sim/recipe/recipe.h"

namespace cli {

std::string recipe_text(const sim::Program& program, const sim::Recipe& recipe, const std::string& folder);
std::string import_text(const sim::ImportedPlan& imported, const std::string& output);

}  // namespace cli
