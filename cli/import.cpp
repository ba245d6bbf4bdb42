// The configuration of another program becomes a plan, for the model and the cluster given beside it.
#include <algorithm>
#include <iterator>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/recipe_text.h"
#include "sim/model/config_notes.h"

namespace cli {
namespace {

sim::Texts variables_of(const std::vector<std::string>& given) {
  sim::Texts variables;
  for (const std::string& one : given) {
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string::npos) throw sim::InputError("--set", {{one, "is no NAME=value", "write --set TP=4"}});
    variables[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return variables;
}

sim::Recompute recompute_of(const std::string& name) {
  const auto* const found = std::find(std::begin(sim::kRecomputeNames), std::end(sim::kRecomputeNames), name);
  return static_cast<sim::Recompute>(found - std::begin(sim::kRecomputeNames));  // options.cpp lets no other name in
}

}  // namespace

int run(const ImportOptions& options, const Console& console) {
  require_outputs({{options.output}}, {options.recipe, options.model, options.cluster, options.software});
  sim::RecipeContext context{.model = std::nullopt,
                             .cluster = sim::load_cluster(options.cluster, sim::DeviceCount{options.devices}),
                             .sequence = options.sequence,
                             .global_batch = options.global_batch,
                             .microbatch = options.microbatch,
                             .vocabulary = options.vocabulary,
                             .recompute = recompute_of(options.recompute),
                             .own_software = !options.software.empty(),
                             .given = variables_of(options.given)};
  if (!options.model.empty()) context.model = sim::load_model_config(options.model);
  if (!options.software.empty()) context.cluster.software = sim::load_software(options.software);
  const sim::ImportedPlan imported = sim::import_recipe(options.recipe, context);
  if (!options.model.empty()) console.note(sim::config_notes(options.model));
  console.note(sim::notes(imported.plan));
  sim::save_plan(imported.plan, options.output);
  console.result(import_text(imported, options.output), [&] { return import_document(imported, options.output); });
  return kSuccess;
}

}  // namespace cli
