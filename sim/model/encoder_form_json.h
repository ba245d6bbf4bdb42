// Keys of networks with an encoder and a decoder in config.json, as T5 and as BART name them.
#pragma once

#include "sim/model/model_config.h"
#include "sim/units/json_fwd.h"

namespace sim {

class JsonReader;

// Stacks: how many blocks of each; of BART also heads and widths, which must be the same in both.
void read_t5_stacks(const JsonReader& config, ModelConfig& model);
void write_t5_stacks(Json& json, const ModelConfig& model);
void read_bart_stacks(const JsonReader& config, ModelConfig& model);
void write_bart_stacks(Json& json, const ModelConfig& model);
// The activation of the feed-forward, with a gate or without: "gated-gelu".
void read_t5_feed_forward(const JsonReader& config, ModelConfig& model);
void write_t5_feed_forward(Json& json, const ModelConfig& model);
// local_radius: how far blocks of the encoder see to both sides (LongT5).
void read_local_radius(const JsonReader& config, ModelConfig& model);
void write_local_radius(Json& json, const ModelConfig& model);
// Embeddings are multiplied by the root of their width, or not.
void read_sound(const JsonReader& config, ModelConfig& model);
void write_sound(Json& json, const ModelConfig& model);
void read_scaled_embedding(const JsonReader& config, ModelConfig& model);
void write_scaled_embedding(Json& json, const ModelConfig& model);

}  // namespace sim
