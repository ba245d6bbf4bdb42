// Rotary positions among the keys of a config.json: `rope_scaling` with `rope_theta` beside it, or both in `rope_parameters`.
#pragma once

#include <cstdint>

#include "sim/model/model_config.h"

namespace sim {

class JsonReader;

// Fills rope_theta and rope_scaling; the configuration's positions and heads must be read before.
void read_rotary(const JsonReader& config, ModelConfig& model, double default_theta = 10000.0);
void write_rope_scaling(Json& config, const RopeScaling& scaling);  // nothing for unscaled positions

}  // namespace sim
