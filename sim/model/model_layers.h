// One layer of each sort, built from the configuration alone: its segments of operators and its parameters.
// Used by make_model_graph, which puts them in a row. Not for other rooms.
#pragma once

#include <string>

#include "sim/model/model_graph.h"

namespace sim {

Layer embedding_layer(const ModelConfig& config, std::int64_t padded_vocabulary);
Layer block_layer(const ModelConfig& config, const std::string& prefix, bool experts = false);  // prefix: "layers.3"
Layer head_layer(const ModelConfig& config, std::int64_t padded_vocabulary);

}  // namespace sim
