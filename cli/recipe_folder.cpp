#include "cli/recipe_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>

#include "sim/recipe/recipe.h"
#include "sim/units/text_file.h"

namespace cli {
namespace {

constexpr std::uintmax_t kLargestLookedAt = 1 << 20;  // bytes of a file

struct Found {
  std::string name, text;
  const sim::Program* program;
};

std::string titled(const Found& one) { return fmt::format("{} ({})", one.name, one.program->title); }

std::vector<Found> recipes_in(const std::string& folder) {
  std::vector<Found> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.file_size() > kLargestLookedAt) continue;
    const std::string text = sim::load_text_file(entry.path().string());
    const sim::Program* const program = sim::program_of(text);
    if (program != nullptr) found.push_back({entry.path().filename().string(), text, program});
  }
  std::ranges::sort(found, {}, &Found::name);
  return found;
}

// As a name of its own: "config.yaml" is not "ds_config.yaml".
bool names(const std::string& text, const std::string& file) {
  const auto is_of_a_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  for (std::size_t at = text.find(file); at != std::string::npos; at = text.find(file, at + 1))
    if ((at == 0 || !is_of_a_name(text[at - 1])) && (at + file.size() == text.size() || !is_of_a_name(text[at + file.size()]))) return true;
  return false;
}

// A script that names the file of another program starts with it.
bool is_named_by_another(const Found& one, const std::vector<Found>& all) {
  return std::ranges::any_of(all, [&](const Found& other) { return other.name != one.name && names(other.text, one.name); });
}

std::string network_in(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!std::filesystem::is_regular_file(path) || std::filesystem::file_size(path) > kLargestLookedAt) return "";
  const std::string text = sim::load_text_file(path);
  return text.find("\"model_type\"") != std::string::npos && text.find("\"hidden_size\"") != std::string::npos ? path : "";
}

[[noreturn]] void refuse(const std::string& folder, const std::vector<Found>& starters, bool has_network) {
  std::vector<std::string> names;
  std::ranges::transform(starters, std::back_inserter(names), titled);
  if (!names.empty()) throw sim::InputError(folder, {{"", fmt::format("holds several: {}", fmt::join(names, ", ")), "name the file"}});
  throw sim::InputError(folder,
                        {{"", fmt::format("holds no configuration of a known program{}", has_network ? ", but a network: config.json" : ""),
                          has_network ? "name the script or the file that trains it, and give this folder by --model" : "name the file"}});
}

}  // namespace

FolderOfRecipes look_into(const std::string& folder) {
  const std::vector<Found> all = recipes_in(folder);
  std::vector<Found> starters;
  std::ranges::copy_if(all, std::back_inserter(starters), [&](const Found& one) { return !is_named_by_another(one, all); });
  FolderOfRecipes taken{.recipe = {}, .model = network_in(folder), .told = {}};
  if (starters.size() != 1) refuse(folder, starters.empty() ? all : starters, !taken.model.empty());
  taken.recipe = folder + "/" + starters.front().name;
  std::vector<std::string> others;
  for (const Found& one : all)
    if (one.name != starters.front().name) others.push_back(titled(one));
  taken.told.push_back({starters.front().name,
                        others.empty() ? "is what is read of the folder"
                                       : fmt::format("is what is read of the folder; it names {}", fmt::join(others, ", ")),
                        "name another file, if it is meant"});
  return taken;
}

}  // namespace cli
