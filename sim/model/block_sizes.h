// Blocks that are not as wide as the others, in attention or feed-forward: each block's own sizes.
// A field of ModelConfig; empty where all blocks are alike.
#pragma once

#include <cstdint>
#include <vector>

namespace sim {

struct ModelConfig;

struct BlockSizes {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0, ffn = 0;
  bool operator==(const BlockSizes&) const = default;
};

// Of one block, from 0; of one behind the last (a prediction of further tokens) the last one's.
BlockSizes sizes_of(const ModelConfig& config, std::int64_t block);
// Each that a block has, once.
std::vector<BlockSizes> different_sizes(const ModelConfig& config);
// Its keys and values are another block's (ModelConfig::shared_kv_layers).
bool reads_keys_before(const ModelConfig& config, std::int64_t block);
// The network whose blocks are all as this one is: sizes, sinks, and how much of a head turns.
ModelConfig in_block(const ModelConfig& config, std::int64_t block);

}  // namespace sim
