// Whether two configurations describe the same network: weights of one mean nothing, or something else, in another. Asked by the executor before it
// loads weights. How a network is trained (dropout, initial values, the router's auxiliary loss) is no part of it.
#pragma once

#include <string>
#include <vector>

#include "sim/model/model_config.h"

namespace sim {

// Each key of config.json in which the function that the weights were made for is another than the planned one; empty: the same function.
std::vector<Violation> function_differences(const ModelConfig& planned, const ModelConfig& of_weights);

}  // namespace sim
