// Columns of the product in front of attention, in the order of its rows: of queries, keys, values, and of what weighs attention's output.
// Not for other rooms.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/model_config.h"

namespace sim {

std::vector<std::int64_t> joint_blocks(const Heads& heads);         // those that a block makes
std::vector<std::int64_t> joint_biases(const ModelConfig& config);  // of them, those with biases: a gate of a softplus has none

}  // namespace sim
