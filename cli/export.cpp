// What leaves: a plan for another program, or weights for other tools. Those the worker writes: it alone reads checkpoints.
#include <filesystem>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/failure_report.h"
#include "cli/launch.h"
#include "cli/recipe_text.h"
#include "sim/units/input_error.h"
#include "sim/units/own_file.h"

namespace cli {
namespace {

int export_weights(const ExportOptions& options, const Console& console) {
  if (!std::filesystem::is_directory(options.source)) {
    const bool is_there = std::filesystem::exists(options.source);
    throw sim::InputError(options.source,
                          {{"", is_there ? "is no run folder" : "is not there",
                            is_there ? "name the folder of a run; a plan file leaves with --to PROGRAM" : "check the path"}});
  }
  const std::string weights = options.output + "/model.safetensors", config = options.output + "/config.json";
  sim::require_own(weights, sim::OwnFile::Weights);
  if (std::filesystem::exists(config) && !std::filesystem::exists(weights)) sim::require_own(config, sim::OwnFile::Weights);
  const int status = run_worker({"export", "--out", options.source, "--weights", options.output});
  if (status != kSuccess) return refused_by_worker(options.source, status, console);
  console.result("Weights: " + options.output + "/model.safetensors, config.json", [&] { return export_document(options); });
  return kSuccess;
}

int export_plan(const ExportOptions& options, const Console& console) {
  const sim::Program& program = *sim::find_program(options.to);  // options.cpp lets no other name in
  const std::string file = std::filesystem::is_directory(options.source) ? options.source + "/plan.json" : options.source;
  const sim::Recipe recipe = sim::export_recipe(program, sim::load_plan(file), options.output);
  console.result(recipe_text(program, recipe, options.output), [&] { return recipe_document(program, recipe, options.output); });
  return kSuccess;
}

}  // namespace

int run(const ExportOptions& options, const Console& console) {
  return options.to.empty() ? export_weights(options, console) : export_plan(options, console);
}

}  // namespace cli
