// What a person may have meant by a name that is not known: for remedies.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

// Names that `asked` begins, in their order; else those of which it is a word (`--batch` of `--global-batch`);
// else those that it begins without dashes and capitals ("RTX 4090" of rtx-4090-24gb); else those with the most of its words, in any order ("A100-SXM4-80GB");
// else the one that is the fewest edits away (Levenshtein), if those are at most half of its letters (dashes before them do not count). Empty: nothing is near ("nope" is no slip for "p40-24gb").
std::vector<std::string> near_names(std::string_view asked, std::span<const std::string> known);

// "did you mean tensor?", "did you mean a or b?"; else `otherwise`.
std::string near_name_remedy(std::string_view asked, std::span<const std::string> known, std::string otherwise);

}  // namespace sim
