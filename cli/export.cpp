// What leaves: a plan for another program, or weights for other tools. Those the worker writes: it alone reads checkpoints.
#include <fmt/format.h>

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

constexpr std::string_view kAdapterWeights = "adapter_model.safetensors";

// Of a run that trains adapters those alone, as PEFT names them.
ExportedFiles exported_files(const ExportOptions& options) {
  const std::string plan = options.source + "/plan.json";
  const bool are_adapters = std::filesystem::exists(plan) && sim::load_plan(plan).model.adapters;
  const std::string folder = options.output + "/";
  return are_adapters ? ExportedFiles{folder + std::string(kAdapterWeights), folder + "adapter_config.json"}
                      : ExportedFiles{folder + "model.safetensors", folder + "config.json"};
}

int export_weights(const ExportOptions& options, const Console& console) {
  if (!std::filesystem::is_directory(options.source)) {
    const bool is_there = std::filesystem::exists(options.source);
    throw sim::InputError(options.source,
                          {{"", is_there ? "is no run folder" : "is not there",
                            is_there ? "name the folder of a run; a plan file leaves with --to PROGRAM" : "check the path"}});
  }
  const ExportedFiles files = exported_files(options);
  const auto& [weights, config] = files;
  sim::require_own(weights, sim::OwnFile::Weights);
  if (std::filesystem::exists(config) && !std::filesystem::exists(weights)) sim::require_own(config, sim::OwnFile::Weights);
  const int status = run_worker({"export", "--out", options.source, "--weights", options.output});
  if (status != kSuccess) return refused_by_worker(options.source, status, console);
  const bool are_adapters = weights.ends_with(kAdapterWeights);
  console.result(
      fmt::format("{}: {}, {}", are_adapters ? "Adapters" : "Weights", weights, std::filesystem::path(config).filename().string()),
      [&] { return export_document(files); });
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
