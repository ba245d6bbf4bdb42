// The configuration of another program becomes a plan, for the model and the cluster given beside it.
#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/recipe_text.h"

namespace cli {

int run(const ImportOptions& options, const Console& console) {
  require_output(options.output, {options.recipe, options.model, options.cluster});
  sim::RecipeContext context{.model = sim::load_model_config(options.model),
                             .cluster = sim::load_cluster(options.cluster, sim::DeviceCount{options.devices}),
                             .sequence = options.sequence,
                             .global_batch = options.global_batch,
                             .microbatch = options.microbatch};
  if (!options.software.empty()) context.cluster.software = sim::load_software(options.software);
  const sim::ImportedPlan imported = sim::import_recipe(options.recipe, context);
  sim::save_plan(imported.plan, options.output);
  console.result(import_text(imported, options.output), [&] { return import_document(imported, options.output); });
  return kSuccess;
}

}  // namespace cli
