// What families without a published config here take where their files are silent (families.json).
#pragma once

#include "sim/model/model_config.h"
#include "sim/units/json_reader.h"

namespace sim {

// changes: as JSON, in the place of what it says.
inline ModelConfig class_config(const std::string& family, const std::string& changes = "{}") {
  Json config = load_json_file("tests/sim/model/families.json")[family]["config"];
  config.update(Json::parse(changes));
  return model_config_from_json(config, family);
}

}  // namespace sim
