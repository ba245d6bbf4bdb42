// What sparse attention adds to the segment of latent attention: its indexer. Every tensor rank computes all of it. Not for other rooms.
#pragma once

#include <vector>

#include "sim/model/parameter_list.h"

namespace sim {

std::vector<Operator> index_products(const ModelConfig& config);  // queries, the shared key and its norm, weights of heads
Operator index_rotary(const ModelConfig& config);                 // of its queries and key, and of the key that attention's heads share
Operator index_scores(const ModelConfig& config);
void add_index_parameters(ParameterList& parameters, const ModelConfig& config);

}  // namespace sim
