// Variables of the environment that change time or memory, and that no plan has a word for: set by the script, or in front of what it starts.
#pragma once

#include <string>

#include "sim/recipe/draft.h"

namespace sim {

bool counts_in_environment(const std::string& name);  // of those that are told
bool may_count_in_environment(
    const std::string& name);  // nobody knows it: code may read it, where it is exported and the script has no use for it
bool sounds_in_environment(const std::string& name);  // of those: like kernels or memory, whoever has a use for it
void tell_environment(Draft& draft);                  // what the command's has, and what stands as NAME=value in front of its program

}  // namespace sim
