// Keys of networks of image patches in config.json.
#pragma once

#include "sim/model/model_config.h"
#include "sim/units/json_fwd.h"

namespace sim {

class JsonReader;

void read_patches(const JsonReader& config, ModelConfig& model);
void write_patches(Json& json, const ModelConfig& model);

}  // namespace sim
