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

using BlockOfMany = int (*)(std::int64_t block, std::int64_t every);  // block: from 0

// A 1 or a 0 for each block; what does not fit is told. Not said: "1".
std::vector<int> pattern_of(Draft& draft, const std::string& key, std::int64_t layers, BlockOfMany of_block);

std::string pattern_text(const std::vector<int>& pattern);  // a list, in runs

}  // namespace sim
