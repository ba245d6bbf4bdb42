// The configuration of another program becomes a plan, for the model and the cluster given beside it.
#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/recipe_text.h"
#include "cli/subject.h"
#include "sim/model/config_notes.h"

namespace cli {
int run(const ImportOptions& options, const Console& console) {
  require_outputs({{options.output}}, {options.recipe, options.model, options.cluster, options.software});
  const sim::ImportedPlan imported = sim::import_recipe(options.recipe, recipe_context(options, options.recipe));
  if (!options.model.empty()) console.note(sim::config_notes(options.model, imported.plan.model.mtp_layers));
  console.note(sim::notes(imported.plan));
  sim::save_plan(imported.plan, options.output);
  console.result(import_text(imported, options.output), [&] { return import_document(imported, options.output); });
  return kSuccess;
}

}  // namespace cli
