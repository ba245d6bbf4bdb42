// What check and diff look at: a plan file, a run folder, a document of check, or whatever import reads (alone in a folder, if one is named).
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "sim/recipe/recipe.h"

namespace cli {

struct Subject {
  std::string path;  // as it was named
  sim::ParallelPlan plan;
  const sim::Program* program =
      nullptr;                 // that performs it, by its words or by the speed that it is priced with; null: another, or our worker
  bool is_recipe = false;      // it came in that program's words
  sim::SettingsInFile said{};  // by these
  std::vector<sim::Violation> told{};       // by the import
  std::vector<sim::Violation> unsayable{};  // what the network or its numbers need and the program has no word for: no layout mends it
};
bool is_of_network(const sim::Violation& refused);
Subject load_subject(const ImportOptions& options);  // options.recipe is what is named; throws sim::InputError
sim::RecipeContext recipe_context(const ImportOptions& options, const std::string& file);  // what is given beside a recipe

}  // namespace cli
