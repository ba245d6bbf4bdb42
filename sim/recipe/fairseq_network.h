// The network of a command of fairseq: a row of its registry, and the options that change it.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

// With vocabulary 0, which is the dictionary's. Nothing: another network, which is told. Of a source with its target, and of whole texts, the draft's
// sequence is taken from what is given, or from the longest that the network reads.
std::optional<ModelConfig> fairseq_network(Draft& draft, const RecipeContext& context);
// Tokens of a sample as --max-tokens counts them: of a source with its target the longer one.
std::int64_t longest_side(const Draft& draft);

}  // namespace sim
