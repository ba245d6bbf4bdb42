// The configuration of another program becomes a plan, for the model and the cluster given beside it.
#include <filesystem>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/recipe_folder.h"
#include "cli/recipe_text.h"
#include "cli/subject.h"
#include "sim/model/config_notes.h"

namespace cli {
namespace {

// A folder: the recipe in it, and the network that lies beside it where no other is given.
std::vector<sim::Violation> take_from_folder(ImportOptions& options) {
  if (!std::filesystem::is_directory(options.recipe)) return {};
  FolderOfRecipes found = look_into(options.recipe);
  options.recipe = found.recipe;
  if (options.model.empty() && !found.model.empty()) {
    options.model = found.model;
    found.told.push_back({"config.json", "of the folder is taken as the network", "give another by --model, if it is meant"});
  }
  return found.told;
}

}  // namespace

int run(const ImportOptions& asked, const Console& console) {
  ImportOptions options = asked;
  const std::vector<sim::Violation> of_folder = take_from_folder(options);
  require_outputs({{options.output}}, {options.recipe, options.model, options.cluster, options.software});
  sim::ImportedPlan imported = sim::import_recipe(options.recipe, recipe_context(options, options.recipe));
  imported.notes.insert(imported.notes.begin(), of_folder.begin(), of_folder.end());
  if (!options.model.empty()) console.note(sim::config_notes(options.model, imported.plan.model.mtp_layers));
  console.note(sim::notes(imported.plan));
  sim::save_plan(imported.plan, options.output);
  console.result(import_text(imported, options.output), [&] { return import_document(imported, options.output); });
  return kSuccess;
}

}  // namespace cli
