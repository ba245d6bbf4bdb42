// Keys of convolutional networks in config.json.
#pragma once

#include "sim/model/model_config.h"
#include "sim/units/json_fwd.h"

namespace sim {

class JsonReader;

std::int64_t read_classes(const JsonReader& config);  // of what images show
void read_maps(const JsonReader& config, ModelConfig& model);
void write_maps(Json& json, const ModelConfig& model);

}  // namespace sim
