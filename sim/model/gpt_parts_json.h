// What several keys of a config.json say together, of GPT-Neo, GPT-BigCode, and Mosaic's MPT and DBRX.
#pragma once

#include "sim/model/family.h"

namespace sim {

class JsonReader;

void read_multi_query(const JsonReader& config, ModelConfig& model);

// attention_types: [[["global", "local"], 12]], pairs of a pattern and how often it stands. Scores are not scaled.
void read_gpt_neo(const JsonReader& config, ModelConfig& model);
void write_gpt_neo(Json& json, const ModelConfig& model);

// attn_config and ffn_config: heads of keys, positions, experts.
void read_mosaic(const JsonReader& config, ModelConfig& model);
void write_mosaic(Json& json, const ModelConfig& model);

// intermediate_size of gate and up together (Qwen).
void read_both_halves(const JsonReader& config, ModelConfig& model);
void read_baichuan_positions(const JsonReader& config, ModelConfig& model);
void write_baichuan_positions(Json& json, const ModelConfig& model);
void read_adjusted_width(const JsonReader& config, ModelConfig& model);
void write_adjusted_width(Json& json, const ModelConfig& model);

// ELECTRA: embedding_size, of tokens, positions, types and of what the head's product leads back to.
void read_table_width(const JsonReader& config, ModelConfig& model);
void write_table_width(Json& json, const ModelConfig& model);
// ESM: position_embedding_type, rotary or a table whose rows begin behind that of padding.
void read_esm_positions(const JsonReader& config, ModelConfig& model);
void write_esm_positions(Json& json, const ModelConfig& model);
// DINOv2: mlp_ratio, and two thirds of it where a gate stands beside (use_swiglu_ffn).
void read_width_ratio(const JsonReader& config, ModelConfig& model);
void write_width_ratio(Json& json, const ModelConfig& model);

// The base of positions in units of 10000 (ChatGLM).
void read_rope_ratio(const JsonReader& config, ModelConfig& model);
void write_rope_ratio(Json& json, const ModelConfig& model);

}  // namespace sim
