// One layer of each sort, built from the configuration alone: its segments of operators and its parameters.
// Not for other rooms.
#pragma once

#include <string>

#include "sim/model/model_graph.h"

namespace sim {

Layer embedding_layer(const ModelConfig& config, std::int64_t padded_vocabulary);
struct BlockForm {
  bool experts = false;
  bool linear = false;
  bool attends = true;      // false: something linear stands in attention's place, and not beside it
  std::int64_t window = 0;  // positions that a query sees; 0: all before it
  bool unturned = false;    // queries and keys know no position
  BlockHalf half = BlockHalf::Both;
  Tokens tokens = Tokens::All;   // whose rows it changes
  bool reads_source = false;     // attends to it, and not to itself
  bool holds_distances = false;  // the table of biases by distance
  bool bare = false;             // attention reads the stream as it is
  bool ends_encoder = false;     // with a norm of what it puts out
};
BlockForm block_form(const ModelConfig& config, std::int64_t block);                           // block: from 0
Layer block_layer(const ModelConfig& config, const std::string& prefix, BlockForm form = {});  // prefix: "layers.3"
// With mtp_layers it is computed once more for each of them (token_prediction.h).
Layer head_layer(const ModelConfig& config, std::int64_t padded_vocabulary);

}  // namespace sim
