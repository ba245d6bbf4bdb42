// Reads and writes a config.json by the row of its family.
#pragma once

#include "sim/model/family.h"

namespace sim {

class JsonReader;

ModelConfig read_by_family(const JsonReader& config, const Family& family);
Json write_by_family(const ModelConfig& config, const Family& family);

}  // namespace sim
