// Blocks that predict further tokens (MTP, DeepSeek-V3): each joins the stream with the embedding of the token behind, and is a block as the last one.
//
//   stream ------- norm -+
//                        +- product [2 h -> h] - attention - feed-forward -> stream, and to the head
//   next token's - norm -+
//   embedding
#pragma once

#include "sim/model/model_graph.h"

namespace sim {

// One after the other. Each module's final norm is its parameter, as Megatron-Core has it; the head's segment computes the norms of all depths.
Layer prediction_layer(const ModelConfig& config, std::int64_t padded_vocabulary);
Layer joined(Layer predictions, Layer head);  // into one, the head behind

}  // namespace sim
