#include "executor/training/hugging_face.h"
#include "sim/units/json_reader.h"

namespace executor {

void save_model_config(const sim::ModelConfig& config, const std::string& path) { sim::save_json_file(sim::to_json(config), path); }

}  // namespace executor
