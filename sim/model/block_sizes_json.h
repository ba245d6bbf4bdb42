// Sizes of blocks that are not alike, as families' files have them: lists by layer, or an object for each block.
#pragma once

#include "sim/model/model_config.h"

namespace sim {

class JsonReader;

// num_attention_heads_per_layer (Laguna).
void read_heads_per_layer(const JsonReader& config, ModelConfig& model);
void write_heads_per_layer(Json& json, const ModelConfig& model);

// num_query_heads, num_kv_heads and ffn_multipliers, whose widths are rounded to ffn_dim_divisor (OpenELM, Mehta et al. 2024).
void read_layer_scaling(const JsonReader& config, ModelConfig& model);
void write_layer_scaling(Json& json, const ModelConfig& model);

// block_configs: how many heads share one of keys, how wide the feed-forward is, or that there is none (Nemotron-NAS, Bercovich et al. 2024).
void read_block_configs(const JsonReader& config, ModelConfig& model);
void write_block_configs(Json& json, const ModelConfig& model);

// global_head_dim, num_global_key_value_heads or per_layer_config: blocks without a window; beside them what Gemma 4 shares and feeds its blocks with.
void read_gemma4(const JsonReader& config, ModelConfig& model);
void write_gemma4(Json& json, const ModelConfig& model);

// gating: a weight of each head, or of each element (Laguna).
void read_gating(const JsonReader& config, ModelConfig& model);
void write_gating(Json& json, const ModelConfig& model);

}  // namespace sim
