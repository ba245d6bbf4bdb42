#include "cli/recipe_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/plan_text.h"
#include "sim/cluster/whose_speed.h"
#include "sim/model/model_text.h"
#include "sim/units/counted.h"

namespace cli {
namespace {

std::string notes_text(const std::string& heading, const std::vector<sim::Violation>& notes) {
  std::string text = notes.empty() ? "" : "\n\n" + heading;
  for (const sim::Violation& note : notes) text += fmt::format("\n  {}\n    {}", sim::located(note), note.remedy);
  return text;
}

std::string counted_text(const sim::ImportedPlan& imported) {
  if (imported.read.empty() && imported.without_effect.empty()) return "";
  return fmt::format("\n\n{} read, {} without effect on time and memory{}{}", sim::counted(std::ssize(imported.read), "setting"),
                     imported.without_effect.size(), imported.without_effect.empty() ? "" : ": ", fmt::join(imported.without_effect, ", "));
}

}  // namespace

std::string recipe_text(const sim::Program& program, const sim::Recipe& recipe, const std::string& folder) {
  std::string text = fmt::format("For {} {}:", program.title, program.version);
  for (const sim::RecipeFile& file : recipe.files) text += fmt::format(" {}/{}", folder, file.name);
  return text + notes_text("Left to the program, or otherwise there", recipe.notes);
}

std::string import_text(const sim::ImportedPlan& imported, const std::string& output) {
  const std::string trained = fmt::format("{}, {}", sim::family_and_size(imported.plan.model), workload_summary(imported.plan));
  return fmt::format("{} {}{}{}\n\n{}\n{}\n\nPlan file: {}, to be priced with the speed of {} (meshwright simulate says what it costs)",
                     imported.program->title, imported.program->version,
                     notes_text("Not known: these might change the figures", imported.unknown),
                     notes_text("These change the figures, and a plan has no word for them", imported.lost), trained,
                     plan_summary(imported.plan), output, sim::to_text(sim::whose_speed(imported.plan.cluster))) +
         notes_text("Otherwise there, or left out", imported.notes) + counted_text(imported);
}

}  // namespace cli
