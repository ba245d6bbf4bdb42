// The fate of each setting of a file that is read.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

struct Accounts {
  std::vector<std::string> read, without_effect;
  int sizes = 0;  // degrees and sizes among what was read
};
Accounts read_settings(const Program& program, const RecipeSettings& settings, Draft& draft);

std::vector<std::string> words_of(std::string_view text);     // by spaces
std::vector<std::string> plain_words(std::string_view text);  // without their quotes

}  // namespace sim
