// What several keys of a config.json say together: windows by layer, latent attention, Falcon's block, rows of positions.
#pragma once

#include "sim/model/family.h"

namespace sim {

class JsonReader;

void read_windows(const JsonReader& config, WindowPattern pattern, ModelConfig& model);
void write_windows(Json& json, WindowPattern pattern, const ModelConfig& model);

// A head of the kernel is as wide as a key and a value on the mean: the same products and the same bytes. A family of experts without any is dense.
void read_latent_block(const JsonReader& config, ModelConfig& model);
void write_latent_block(Json& json, const ModelConfig& model);

void read_falcon_block(const JsonReader& config, ModelConfig& model);
void write_falcon_block(Json& json, const ModelConfig& model);

void read_score_factor(const JsonReader& config, ModelConfig& model);
void write_score_factor(Json& json, const ModelConfig& model);

void read_granite_factors(const JsonReader& config, ModelConfig& model);
void write_granite_factors(Json& json, const ModelConfig& model);

// Layers that turn and see their piece of the sample, layers that do neither; the width of dense layers; a shared expert as wide as the others.
void read_llama4(const JsonReader& config, ModelConfig& model);
void write_llama4(Json& json, const ModelConfig& model);

// Blocks without positions: a list, or every so many.
void read_unturned(const JsonReader& config, ModelConfig& model);
void write_unturned(Json& json, const ModelConfig& model);
void turn_under_windows(ModelConfig& model);  // the others see all, and no positions

void read_rotary_dim(const JsonReader& config, ModelConfig& model);

void read_depth_factors(const JsonReader& config, ModelConfig& model);
void write_depth_factors(Json& json, const ModelConfig& model);

// local_attention: tokens that a window reaches, to both sides together; every so many blocks none.
void read_both_ways(const JsonReader& config, ModelConfig& model);
void write_both_ways(Json& json, const ModelConfig& model);
void read_position_rows(const JsonReader& config, ModelConfig& model);

}  // namespace sim
