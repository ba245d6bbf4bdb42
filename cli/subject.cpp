#include "cli/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "cli/documents_json.h"
#include "cli/recipe_folder.h"
#include "sim/recipe/network.h"
#include "sim/units/at.h"
#include "sim/units/text_file.h"

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
  if (name.empty()) return sim::Recompute::None;
  const auto* const found = std::find(std::begin(sim::kRecomputeNames), std::end(sim::kRecomputeNames), name);
  return static_cast<sim::Recompute>(found - std::begin(sim::kRecomputeNames));  // options.cpp lets no other name in
}

// The plan of a run; else what import reads of it.
std::string file_in(const std::string& folder) {
  if (std::filesystem::exists(folder + "/plan.json")) return folder + "/plan.json";
  return look_into(folder).recipe;
}

bool holds(const std::string& text, std::string_view format) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && text[begin] == '{' && text.find(format) != std::string::npos;
}

std::vector<sim::Violation> refusals(const sim::Program& program, const sim::ParallelPlan& plan, bool of_network) {
  std::vector<sim::Violation> refused = sim::why_not_for(program, plan);
  std::erase_if(refused, [&](const sim::Violation& one) { return is_of_network(one) != of_network; });
  return refused;
}

// By the speed that it is priced with; a layout that the program cannot say is nobody's.
const sim::Program* program_of_speed(const sim::ParallelPlan& plan) {
  for (const sim::Program* program : sim::all_programs())
    if (!program->software.empty() && program->software == plan.cluster.software.name && refusals(*program, plan, false).empty())
      return program;
  return nullptr;
}

// A plan says all of itself: what is given beside it is what it says, or is refused.
void refuse_others(const std::string& file, const ImportOptions& given, const sim::ParallelPlan& plan) {
  std::vector<sim::Violation> wrong;
  const auto number = [&](const char* option, std::int64_t asked, std::int64_t said) {
    if (asked != 0 && asked != said)
      wrong.push_back({option, fmt::format("is {}, and the plan has {}", asked, said), "leave it out, or make a plan with it"});
  };
  number("--sequence", given.sequence, plan.workload.sequence);
  number("--global-batch", given.global_batch, plan.workload.global_batch);
  number("--microbatch", given.microbatch, plan.microbatch_size);
  number("--vocabulary", given.vocabulary, plan.model.vocabulary);
  if (given.cluster.empty()) number("--devices", given.devices, plan.cluster.devices);
  for (const auto& [name, value] : variables_of(given.given))
    wrong.push_back({"--set", fmt::format("{}={} is of a script's variable, and a plan has none", name, value), "leave it out"});
  if (!given.recompute.empty() && recompute_of(given.recompute) != plan.recompute)
    wrong.push_back({"--recompute",
                     fmt::format("is {}, and the plan has {}", given.recompute, sim::at(sim::kRecomputeNames, plan.recompute)),
                     "leave it out, or make a plan with it"});
  if (!given.model.empty()) {
    const sim::NetworkDifferences network = sim::network_differences(plan.model, sim::load_model_config(given.model));
    for (const std::string& one : network.structure)
      wrong.push_back({"--model", "is another network: " + one, "leave it out, or make a plan with it"});
  }
  if (!wrong.empty()) throw sim::InputError(file, wrong);
}

sim::RecipeContext context_of(const ImportOptions& options, sim::Cluster cluster) {
  sim::RecipeContext context{.model = std::nullopt,
                             .cluster = std::move(cluster),
                             .sequence = options.sequence,
                             .global_batch = options.global_batch,
                             .microbatch = options.microbatch,
                             .vocabulary = options.vocabulary,
                             .recompute = recompute_of(options.recompute),
                             .own_software = !options.software.empty(),
                             .given = variables_of(options.given)};
  if (!options.model.empty()) context.model = sim::load_model_config(options.model);
  if (!options.software.empty()) context.cluster.software = sim::load_software(options.software);
  return context;
}

}  // namespace

bool is_of_network(const sim::Violation& refused) { return refused.where.starts_with("/model") || refused.where.starts_with("/workload"); }

sim::RecipeContext recipe_context(const ImportOptions& options, const std::string& file) {
  // A hardware profile does not say how many devices there are: as many as the recipe starts processes, where it says that.
  const bool is_open = options.devices == 0 && !sim::says_devices(options.cluster);
  const auto context_on = [&](std::int32_t devices) {
    return context_of(options, sim::load_cluster(options.cluster, sim::DeviceCount{devices}));
  };
  return context_on(is_open ? sim::processes_of(file, context_on(1)) : options.devices);
}

Subject load_subject(const ImportOptions& options) {
  const std::string file = std::filesystem::is_directory(options.recipe) ? file_in(options.recipe) : options.recipe;
  const std::string text = sim::load_edited_text_file(file);
  Subject subject{.path = options.recipe, .plan = {}};
  if (holds(text, "\"meshwright.check/")) {
    subject.plan = plan_of_check(file);
  } else if (holds(text, "\"meshwright.plan/")) {
    subject.plan = sim::load_plan(file);
  } else {
    if (options.cluster.empty())
      throw sim::InputError("--cluster", {{"", fmt::format("is not given, and {} does not say what it runs on", file),
                                           "give a cluster file, or a hardware profile with --devices"}});
    sim::ImportedPlan imported = sim::import_recipe(file, recipe_context(options, file));
    subject.told = sim::told(imported);
    subject.said = std::move(imported.said);
    subject.plan = std::move(imported.plan);
    subject.program = imported.program;
    subject.is_recipe = true;
    if (subject.program != nullptr) subject.unsayable = refusals(*subject.program, subject.plan, true);
    return subject;
  }
  refuse_others(file, options, subject.plan);
  if (!options.cluster.empty()) {
    subject.plan.cluster =
        sim::load_cluster(options.cluster, sim::DeviceCount{options.devices > 0 ? options.devices : subject.plan.cluster.devices});
    if (const auto broken = sim::violations(subject.plan); !broken.empty()) throw sim::InputError(file, broken);
  }
  if (!options.software.empty()) subject.plan.cluster.software = sim::load_software(options.software);
  subject.program = program_of_speed(subject.plan);
  if (subject.program != nullptr) subject.unsayable = refusals(*subject.program, subject.plan, true);
  return subject;
}

}  // namespace cli
