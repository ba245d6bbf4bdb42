#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "sim/recipe/recipe.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

const Field* field_of(const Program& program, const std::string& key) {
  for (const Field& field : program.fields) {
    const std::vector<std::string> aliases = words_of(field.aliases);
    if (field.key == key || std::find(aliases.begin(), aliases.end(), key) != aliases.end()) return &field;
  }
  return nullptr;
}

std::string names_of_programs() {
  std::vector<std::string_view> titles;
  for (const Program* program : all_programs())
    if (!program->marks.empty()) titles.push_back(program->title);
  return fmt::format("{}", fmt::join(titles, ", "));
}

std::string recipe_text(const std::string& path) {
  std::string text = load_text_file(path);
  if (std::ssize(text) > kLargestRecipe.value())
    throw InputError(path, {{"", fmt::format("has {} bytes, and no configuration is longer than {}", text.size(), kLargestRecipe.value()),
                             "give the configuration alone"}});
  return text;
}

void read_fields(const Program& program, const RecipeSettings& settings, Draft& draft) {
  std::vector<std::string> unknown;
  for (const RecipeSetting& setting : settings) {
    const Field* field = field_of(program, setting.key);
    if (field == nullptr)
      unknown.push_back(setting.key);
    else if (setting.value == "auto")
      draft.notes.push_back({setting.key, "is \"auto\"", "it follows from the model, the cluster and the command line here"});
    else
      field->read(Value(setting, draft), draft);
  }
  if (!unknown.empty())
    draft.notes.push_back(
        {"", fmt::format("{} settings mean nothing to a plan and were left out: {}", unknown.size(), fmt::join(unknown, ", ")),
         "see whether one of them matters"});
}

// The order stands in a file beside the recipe, and nowhere else: a recipe opens no other path.
void take_order_file(const std::string& path, Draft& draft) {
  if (draft.order_file.empty() || !draft.wrong.empty()) return;
  const std::string name = std::filesystem::path(draft.order_file).filename().string();
  std::istringstream lines(load_text_file((std::filesystem::path(path).parent_path() / name).string()));
  std::vector<std::string> rows;
  for (std::string row; std::getline(lines, row);)
    if (!row.empty()) rows.push_back(row);
  OrderTable order = parse_order(rows, draft.wrong);
  if (!draft.wrong.empty()) return;
  draft.plan.schedule = kOrderFromCsv;
  draft.plan.chunks = order.chunks;
  draft.plan.written_order = std::move(order);
}

}  // namespace

const Program* program_of(std::string_view text) {
  for (const Program* program : all_programs())
    for (const std::string& mark : words_of(program->marks))
      if (text.find(mark) != std::string_view::npos) return program;
  return nullptr;
}

ImportedPlan import_recipe(const std::string& path, const RecipeContext& context) {
  const std::string text = recipe_text(path);
  const Program* program = program_of(text);
  if (program == nullptr)
    throw InputError(path, {{"", fmt::format("is no configuration of {}", names_of_programs()),
                             "give a launch script, JSON, YAML or recipe of one of them"}});
  Draft draft;
  draft.plan.model = context.model;
  draft.plan.cluster = context.cluster;
  draft.plan.workload.precision = context.cluster.hardware.kind == DeviceKind::Cpu ? Precision::Fp32 : Precision::Bf16;
  read_fields(*program, program->settings(text, path), draft);
  program->settle(draft);
  take_order_file(path, draft);
  complete_draft(draft, context);
  if (!draft.wrong.empty()) throw InputError(path, draft.wrong);
  return {std::move(draft.plan), program, std::move(draft.notes)};
}

}  // namespace sim
