// A folder in place of a recipe: the one file in it that starts a training, and what else it holds.
#pragma once

#include <string>
#include <vector>

#include "sim/units/input_error.h"

namespace cli {

struct FolderOfRecipes {
  std::string recipe, model;         // files in it; model: a network's config.json, or empty
  std::vector<sim::Violation> told;  // what was taken of it, and what that names
};
// Throws sim::InputError, with the names of all that was found: no recipe, or several of which none names the others.
FolderOfRecipes look_into(const std::string& folder);

}  // namespace cli
