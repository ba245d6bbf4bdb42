// Rotary positions among the keys of a config.json: `rope_scaling` with `rope_theta` beside it, or both in `rope_parameters`.
#pragma once

#include <cstdint>

#include "sim/model/model_config.h"

namespace sim {

class JsonReader;

// Fills rope_theta, rope_scaling and what turns; the configuration's positions and heads must be read before, and its fields hold the defaults.
void read_rotary(const JsonReader& config, ModelConfig& model);
void write_rotary(Json& config, const ModelConfig& model);
void write_rope_scaling(Json& config, const RopeScaling& scaling);  // nothing for unscaled positions

}  // namespace sim
