#include <filesystem>

#include "executor/training/hugging_face.h"
#include "executor/training/hugging_face_files.h"
#include "sim/model/model_differences.h"
#include "sim/units/json_reader.h"

namespace executor {

void save_model_config(const sim::ModelConfig& config, const std::string& path) { sim::save_json_file(sim::to_json(config), path); }

bool require_same_network(const std::string& path, const sim::ModelConfig& planned) {
  namespace fs = std::filesystem;
  const std::string config = (fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path()) / "config.json";
  if (!fs::exists(config)) return false;
  const std::vector<sim::Violation> differences = sim::function_differences(planned, sim::load_model_config(config));
  if (!differences.empty()) throw sim::InputError(config, differences);
  return true;
}

}  // namespace executor
