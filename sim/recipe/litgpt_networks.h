// Networks that LitGPT knows by name: those of plain blocks, like Llama's, Qwen 2.5's and GPT-NeoX's.
#pragma once

#include <optional>
#include <string_view>

#include "sim/recipe/draft.h"

namespace sim {

// By the last part of a path or of an organisation's name, "checkpoints/EleutherAI/pythia-160m". Heads are not tied, and the vocabulary is padded as it
// is there. Nothing: no such name, or a network of another kind.
std::optional<ModelConfig> litgpt_network(std::string_view name);

// Of the sizes under model_config, which a file gives for a network of its own. Nothing: no sizes, or blocks of another kind than those above.
std::optional<ModelConfig> litgpt_network_of_sizes(const Draft& draft);

}  // namespace sim
