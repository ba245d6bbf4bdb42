// What changes in a program's file when its plan does: lines of the file that is there, in the names that stand in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/recipe/program.h"

namespace sim {

// As they stand in the file, by the names of its program's table. Of a setting that is said twice the last one counts.
using SettingsInFile = std::map<std::string, RecipeSetting>;
inline constexpr std::string_view kOfFileBeside = "file.";  // in front of the names of DeepSpeed's own file
SettingsInFile settings_in_file(const Program& program, const RecipeSettings& settings);

// "--tensor-model-parallel-size 8 -> 4". Empty: a value that is not there.
struct ChangedSetting {
  std::string key, before, after;
  bool operator==(const ChangedSetting&) const = default;
};
// What the file leaves at a default is added there.
std::vector<ChangedSetting> changed_settings(const Program& program, const ParallelPlan& before, const ParallelPlan& after,
                                             const SettingsInFile& said);
std::string to_text(const ChangedSetting& change);

}  // namespace sim
