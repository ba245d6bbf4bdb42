#include "cli/recipe_text.h"

#include <fmt/format.h>

#include "cli/plan_text.h"

namespace cli {
namespace {

std::string notes_text(const std::string& heading, const std::vector<sim::Violation>& notes) {
  std::string text = notes.empty() ? "" : "\n\n" + heading;
  for (const sim::Violation& note : notes) text += fmt::format("\n  {}\n    {}", sim::located(note), note.remedy);
  return text;
}

}  // namespace

std::string recipe_text(const sim::Program& program, const sim::Recipe& recipe, const std::string& folder) {
  std::string text = fmt::format("For {} {}:", program.title, program.version);
  for (const sim::RecipeFile& file : recipe.files) text += fmt::format(" {}/{}", folder, file.name);
  return text + notes_text("Left to the program, or otherwise there", recipe.notes);
}

std::string import_text(const sim::ImportedPlan& imported, const std::string& output) {
  return fmt::format("{} {}\n{}\n\nPlan file: {} (meshwright simulate says what it costs)", imported.program->title,
                     imported.program->version, plan_summary(imported.plan), output) +
         notes_text("Not of the plan", imported.notes);
}

}  // namespace cli
