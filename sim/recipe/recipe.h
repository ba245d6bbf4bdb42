// A plan leaves for, and comes from, the programs that people train with.
// An export carries the whole layout or is refused; whatever else differs there is said. An import never leaves a key out unsaid.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/recipe/changed_settings.h"
#include "sim/recipe/program.h"

namespace sim {

std::span<const Program* const> all_programs();
const Program* find_program(std::string_view name);  // null when there is none

struct Recipe {
  std::vector<Violation> refused;  // where: a JSON pointer into the plan; with any, there are no files
  std::vector<Violation> notes;
  std::vector<RecipeFile> files;
};
// What of a plan the program cannot perform, or performs otherwise though another plan says what it does. A plan with its habits and without an
// answer comes back from its recipe as it is.
std::vector<Violation> why_not_for(const Program& program, const ParallelPlan& plan);
void take_habits(const Program& program, ParallelPlan& plan);
// Of plans that are searched for: the program's habits, and what those who run it switch on because it costs nothing (gathers beside the forward). A plan
// that is imported says that, or does without. Null: what its software profile does.
std::function<void(ParallelPlan&)> habits_of_search(const Program* program);
// The program's own software profile, for GPUs of which nobody says what runs on them: those have "meshwright". Throws InputError.
void take_software(const Program& program, Cluster& cluster);
Recipe make_recipe(const Program& program, const ParallelPlan& plan);
// Into a folder, which is made. Throws InputError, naming the plan's file: all that is refused; or what the disk says.
Recipe export_recipe(const Program& program, const ParallelPlan& plan, const std::string& folder);

struct ImportedPlan {
  ParallelPlan plan;
  const Program* program = nullptr;
  std::vector<Violation> notes;                       // where: a key of the file
  std::vector<Violation> unknown{};                   // settings that nobody here knows, with what they might change: to be read first
  std::vector<Violation> lost{};                      // known to change time or memory, and no word of a plan
  std::vector<std::string> read{}, without_effect{};  // every other setting, by name
  SettingsInFile said{};                              // and all of them as they stand in it
};
std::vector<Violation> told(const ImportedPlan& imported);  // all that is to be said, the gravest first
const Program* program_of(std::string_view text);           // by what stands in it; null: of none
// Throws InputError: no known program, values that cannot be, a network that is another than the model, and all rules of a plan.
ImportedPlan import_recipe(const std::string& path, const RecipeContext& context);
// That the recipe starts, one a device; 0: it does not say. Of a context whose devices are not known yet.
std::int32_t processes_of(const std::string& path, const RecipeContext& context);

}  // namespace sim
