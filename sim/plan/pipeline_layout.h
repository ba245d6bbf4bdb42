// Megatron-Core's text of a pipeline's cut (--pipeline-model-parallel-layout): "Et*3|(tt|)*2tmL" is the embedding with three blocks, two parts of two
// blocks, the last block with a layer that predicts further tokens and the head with the loss. Recipes write it, published rows state it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sim {

struct PipelineLayout {
  std::vector<std::int64_t> blocks;                 // of each part, in the model's order
  std::int64_t further = 0;                         // layers that predict further tokens
  std::size_t first_further = 0, last_further = 0;  // parts that have them
  std::optional<char> unknown{};                    // a letter that no plan knows; then the rest is of no use
  bool is_further_apart() const { return further > 0 && last_further + 1 < blocks.size(); }  // from the head
  bool is_further_split() const { return first_further != last_further; }
};

// Also as people write it: commas, (t*2|)*3, ttt, and what was escaped for a shell. Parentheses do not nest there either.
PipelineLayout parse_pipeline_layout(const std::string& text);

}  // namespace sim
