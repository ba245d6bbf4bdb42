// The keys of a config.json that no plan takes: every key is read, without effect on what is trained and on its time and memory (a list), or told here with
// what it might change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/json_fwd.h"

namespace sim {

// For a file that load_model_config() takes; of another one nothing is told, its reader refuses it. mtp_layers: that the plan has, whatever the file says.
std::vector<Violation> config_notes(const std::string& path_or_name, std::int64_t mtp_layers = 0);
std::vector<Violation> config_notes_of(const Json& config);

}  // namespace sim
