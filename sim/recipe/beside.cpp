#include "sim/recipe/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/recipe/accounting.h"
#include "sim/units/text_file.h"

namespace sim {

namespace {

// As it is named from the recipe's folder, where it stays inside; else by its name alone.
std::filesystem::path path_beside(const std::string& recipe, const std::string& named) {
  const std::filesystem::path folder = std::filesystem::path(recipe).parent_path(), path(named);
  const bool stays = path.is_relative() && std::ranges::find(path, "..") == path.end();
  std::error_code none;
  return stays && std::filesystem::is_regular_file(folder / path, none) ? folder / path : folder / path.filename();
}

}  // namespace

std::string text_beside(const RecipeSource& source, const RecipeReading& reading, const RecipeSetting& named) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw InputError(source.path, {{named.key, problem, remedy}});
  };
  if (const auto document = reading.documents.find(named.value); document != reading.documents.end()) return document->second;
  const std::filesystem::path name = std::filesystem::path(named.value).filename();  // its folder may be a variable: it lies beside
  if (const std::vector<std::string> open = unknowns_in(name.string()); !open.empty())
    refuse(fmt::format("is '{}', which the file alone does not say", shown(named.value)),
           fmt::format("give --set {}=NAME of the file, and have it beside this one", open.front()));
  const std::filesystem::path path = path_beside(source.path, named.value);
  if (!std::filesystem::is_regular_file(path))
    refuse(fmt::format("names {}, which holds the layout and is not beside this file", shown(named.value)),
           fmt::format("copy it there as {}", name.string()));
  return load_edited_text_file(path.string());
}

void put_below(RecipeReading& reading, RecipeSettings of_file) {
  of_file.insert(of_file.end(), reading.settings.begin(), reading.settings.end());
  reading.settings = std::move(of_file);
}

std::optional<std::string> script_beside(const std::string& recipe, const std::string& named) {
  const std::filesystem::path own(recipe), name = std::filesystem::path(named).filename(), path = path_beside(recipe, named);
  std::error_code none;
  if (name.empty() || name == own.filename() || !std::filesystem::is_regular_file(path, none)) return std::nullopt;
  if (std::filesystem::file_size(path, none) > static_cast<std::uintmax_t>(kLargestRecipe.value())) return std::nullopt;
  std::string text = load_edited_text_file(path.string());
  std::erase_if(text, [](char c) { return c == '\r' || c == kUnknownBegin || c == kUnknownEnd; });
  return text;
}

std::optional<RecipeSetting> bare_configuration(const std::string& command) {
  std::string before;
  for (const std::string& word : words_of(command)) {
    const bool is_cut =
        std::ranges::count(word, kUnknownBegin) != std::ranges::count(word, kUnknownEnd);  // at a space of what is not known
    const bool is_configuration = !is_cut && (word.ends_with(".yaml") || word.ends_with(".yml"));
    const bool is_behind_option = before.starts_with("-") && before != "-c";
    if (is_configuration && !before.empty() && !is_behind_option && !word.starts_with("-")) return RecipeSetting{"config", word};
    before = word;
  }
  return std::nullopt;
}

}  // namespace sim
