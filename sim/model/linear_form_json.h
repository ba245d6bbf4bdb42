// The keys of linear attention in a config.json: each family has names of its own, and a way of its own to say which layers have it.
#pragma once

#include "sim/model/family.h"

namespace sim {

class JsonReader;

void read_linear(const JsonReader& config, ModelConfig& model);
void write_linear(Json& json, const ModelConfig& model);

}  // namespace sim
