#include "sim/model/block_sizes.h"

#include <algorithm>

#include "sim/model/model_config.h"
#include "sim/units/at.h"

namespace sim {

BlockSizes sizes_of(const ModelConfig& config, std::int64_t block) {
  if (config.sizes.empty()) return {config.heads, config.kv_heads, config.head_dim, config.ffn};
  return sim::at(config.sizes, std::min(block, config.layers - 1));
}

std::vector<BlockSizes> different_sizes(const ModelConfig& config) {
  std::vector<BlockSizes> found;
  const std::int64_t blocks = config.sizes.empty() ? 1 : config.layers;
  for (std::int64_t block = 0; block < blocks; ++block)
    if (const BlockSizes sizes = sizes_of(config, block); std::ranges::find(found, sizes) == found.end()) found.push_back(sizes);
  return found;
}

bool reads_keys_before(const ModelConfig& config, std::int64_t block) {
  return config.shared_kv_layers > 0 && std::min(block, config.layers - 1) >= config.layers - config.shared_kv_layers;
}

ModelConfig in_block(const ModelConfig& config, std::int64_t block) {
  ModelConfig alike = config;
  const BlockSizes sizes = sizes_of(config, block);
  alike.heads = sizes.heads, alike.kv_heads = sizes.kv_heads, alike.head_dim = sizes.head_dim, alike.ffn = sizes.ffn;
  alike.sizes.clear();
  const bool has_window = window_of(config, std::min(block, config.layers - 1)) > 0;
  alike.keys_as_values = config.keys_as_values && !has_window;
  alike.shared_kv_layers = reads_keys_before(config, block) ? config.layers : 0;
  if (config.sinks_in_windows && !has_window) alike.sinks = false;
  if (config.local_rotary_share > 0 && has_window) alike.rotary_share = config.local_rotary_share;
  if (config.linear && config.linear->norms_before && block < config.layers && is_linear(config, block))
    alike.norm_place = NormPlace::Before;
  return alike;
}

}  // namespace sim
