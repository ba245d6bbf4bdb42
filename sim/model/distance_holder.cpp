#include "sim/model/distance_holder.h"

namespace sim {

LayerIndex holder_of_distances(const ModelConfig& config, LayerIndex layer) {
  const std::int64_t block = layer.value() - 1;
  const bool is_block = layer.exists() && block >= 0 && block < config.layers;
  if (!config.encoder || config.encoder->relative_buckets == 0 || !is_block || attends_to_source(config, block)) return LayerIndex::none();
  if (config.encoder->distances_of_each) return layer;
  return LayerIndex(1 + (rows_of(config, block) == Tokens::Source ? 0 : static_cast<std::int32_t>(config.encoder->layers)));
}

}  // namespace sim
