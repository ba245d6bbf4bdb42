// Which blocks have something, as Megatron-Core's arguments say it (moe_freq_type, la_freq_type): a list, sums and multiples of lists, or "every how many".
//
//   ([0]*3+[1]*58)     three without, then 58 with
//   4                  what one block in four means is the argument's own
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/recipe/draft.h"

namespace sim {

struct BlockOfMany {
  std::int64_t block = 0, every = 1;  // block: from 0; every so many
};

// A 1 or a 0 for each block; what does not fit is told. Not said: "1".
std::vector<int> pattern_of(Draft& draft, const std::string& key, std::int64_t layers, int (*of_block)(BlockOfMany));

std::string pattern_text(const std::vector<int>& pattern);  // a list, in runs

}  // namespace sim
