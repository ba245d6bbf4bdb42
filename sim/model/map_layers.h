// Layers of a convolutional network, one for each child of its flattened nn.Sequential, so that a pipeline is cut where such programs cut it.
#pragma once

#include <vector>

#include "sim/model/model_graph.h"

namespace sim {

std::vector<Layer> map_layers(const ConvolutionForm& form, std::int64_t classes);

}  // namespace sim
