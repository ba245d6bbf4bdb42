// A Hugging Face config.json as the network of a step estimate: dense decoders and encoders of many families, experts, latent and windowed attention.
// Wider than sim/model, which holds what can be lowered to tasks and run. Used by planner/layouts.
#pragma once

#include <string>

#include "sim/estimate/run_description.h"
#include "sim/units/json_fwd.h"

namespace sim {

// Tokens of a sample are not in the file: network.sequence stays 1. Throws InputError with all violations.
Network load_network(const std::string& path);
Network network_from_config(const Json& config, const std::string& file);

}  // namespace sim
