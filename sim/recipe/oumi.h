// Oumi: YAML in sections, whose words are mostly the Trainer's.
#pragma once

#include <vector>

#include "sim/recipe/changed_settings.h"
#include "sim/recipe/program.h"

namespace sim {

bool is_of_oumi(const RecipeSettings& settings);
RecipeSettings arguments_of_oumi(const RecipeSettings& settings);  // of the Trainer

// The Trainer's lines to change, in the sections of the file; as they are where it is none of Oumi's.
std::vector<ChangedSetting> in_words_of_oumi(std::vector<ChangedSetting> changes, const SettingsInFile& said);

}  // namespace sim
