#include "sim/units/profile_search.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "sim/units/input_error.h"
#include "sim/units/near_name.h"

namespace sim {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> stated_path(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<fs::path>(value);
}

std::optional<fs::path> home_data() {
  if (auto stated = stated_path("XDG_DATA_HOME")) return stated;
  const auto home = stated_path("HOME");
  return home ? std::optional(*home / ".local" / "share") : std::nullopt;
}

// The library that holds this code, where it is one: the module of a Python package.
std::optional<fs::path> own_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&home_data), &info) == 0 || info.dli_fname == nullptr) return std::nullopt;
  const fs::path file(info.dli_fname);
  return file.extension() == ".so" ? std::optional(file) : std::nullopt;
}

std::vector<fs::path> places(const std::vector<std::string>& folders) {
  std::vector<fs::path> found;
  for (const fs::path& root : profile_folders())
    for (const std::string& folder : folders) found.push_back(root / folder);
  return found;
}

std::vector<std::string> known_names(const std::vector<std::string>& folders) {
  std::set<std::string> names;  // in order, whatever the disk's order is
  for (const fs::path& place : places(folders)) {
    std::error_code none_there;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, none_there))
      if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

// Parts of one name differ in their form: boards (SXM) first, since they train more than cards.
std::vector<std::string> boards_first(std::vector<std::string> names) {
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name.find("-sxm") != std::string::npos; });
  return names;
}

// Of "meta-llama/Llama-3.1-8B", as a hub spells it: "llama-3.1-8b".
std::string usual(const std::string& name) {
  std::string text = name.substr(name.rfind('/') + 1);
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool is_path(std::string_view name) { return name.starts_with('/') || name.starts_with('.') || name.ends_with(".json"); }

[[noreturn]] void refuse_name(const std::string& name, const std::vector<std::string>& known) {
  const std::string asked = name.substr(0, 100);
  if (is_path(name)) throw InputError(asked, {{"", "is not there", "check the path"}});
  if (known.empty()) {
    const auto stated = stated_path("MESHWRIGHT_DATA");
    const std::string where = stated ? fmt::format(" in {}, which is MESHWRIGHT_DATA", (*stated / "profiles").string()) : "";
    throw InputError(asked, {{"", "is no file, and no profiles were found" + where,
                              "give the path of one, or set MESHWRIGHT_DATA to the folder that holds profiles/"}});
  }
  const std::string what = "is neither a file nor a known profile";
  const std::string near = near_name_remedy(usual(asked), boards_first(known), "");
  if (!near.empty()) throw InputError(asked, {{"", what, near + " Else give the path of a file"}});
  throw InputError(asked,
                   {{"", fmt::format("{}, accepted: {}", what, fmt::join(known, ", ")), "give one of these names, or the path of a file"}});
}

}  // namespace

std::vector<fs::path> profile_folders() {
  const fs::path own = fs::path("meshwright") / "profiles";
  std::vector<fs::path> folders;
  if (const auto stated = stated_path("MESHWRIGHT_DATA")) folders.push_back(*stated / "profiles");
  if (const auto home = home_data()) folders.push_back(*home / own);
  if (const auto library = own_library()) folders.push_back(library->parent_path() / "profiles");
  std::error_code unreadable;
  const fs::path program = fs::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) folders.push_back(program.parent_path().parent_path() / "share" / own);
  folders.emplace_back("profiles");
  return folders;
}

std::string find_profile(const std::string& path_or_name, const std::vector<std::string>& folders) {
  std::error_code ignored;
  if (fs::exists(path_or_name, ignored) && !fs::is_directory(path_or_name, ignored)) return path_or_name;
  for (const fs::path& place : places(folders))
    if (const fs::path file = place / (path_or_name + ".json"); fs::is_regular_file(file, ignored)) return file.string();
  refuse_name(path_or_name, known_names(folders));
}

}  // namespace sim
