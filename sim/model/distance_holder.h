// Which layer has the table of biases by distance that a block's scores get: the first block of its stack, of all blocks of it (Raffel et al.
// 2020), or each block of its own (UMT5).
#pragma once

#include "sim/model/model_config.h"
#include "sim/units/index.h"

namespace sim {

// None: of another network, of what is no block, and of attention to a source.
LayerIndex holder_of_distances(const ModelConfig& config, LayerIndex layer);

}  // namespace sim
