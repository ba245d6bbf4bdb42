// Blocks that predict further tokens (MTP, DeepSeek-V3): each joins the stream with the embedding of the token behind, and is a block as the last one.
//
//   stream ------- norm -+
//                        +- product [2 h -> h] - attention - feed-forward -> stream, and to the head
//   next token's - norm -+
//   embedding
#pragma once

#include "sim/model/model_graph.h"

namespace sim {

// In front of the head, one after the other.
void add_token_predictions(Layer& head, const ModelConfig& config, std::int64_t padded_vocabulary);

}  // namespace sim
