#include "sim/cluster/profile_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

#include "sim/units/input_error.h"

namespace sim {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> places(const std::vector<std::string>& folders) {
  std::vector<fs::path> found;
  for (const fs::path& root : {fs::path(MESHWRIGHT_PROFILES_DIR), fs::path("profiles")})
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

std::size_t edit_distance(const std::string& a, const std::string& b) {  // Levenshtein, one row
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

[[noreturn]] void refuse_name(const std::string& name, const std::vector<std::string>& known) {
  const std::string asked = name.substr(0, 100);
  const auto distance = [&](const std::string& other) { return other.starts_with(asked) ? 0 : edit_distance(asked, other); };
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  if (nearest == known.end()) throw InputError(asked, {{"", "is no file, and no profiles were found", "give the path of a profile"}});
  const bool is_near = !asked.empty() && 2 * distance(*nearest) <= asked.size();  // "nope" is no slip for "p40-24gb"
  throw InputError(asked, {{"", fmt::format("is neither a file nor a known profile, accepted: {}", fmt::join(known, ", ")),
                            is_near ? fmt::format("did you mean {}?", *nearest) : "give one of these names, or the path of a file"}});
}

}  // namespace

std::string find_profile(const std::string& path_or_name, const std::vector<std::string>& folders) {
  std::error_code ignored;
  if (fs::exists(path_or_name, ignored) && !fs::is_directory(path_or_name, ignored)) return path_or_name;
  for (const fs::path& place : places(folders))
    if (const fs::path file = place / (path_or_name + ".json"); fs::is_regular_file(file, ignored)) return file.string();
  refuse_name(path_or_name, known_names(folders));
}

}  // namespace sim
