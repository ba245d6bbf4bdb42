// Convolutional networks that rows name by their architecture, as configurations.
#pragma once

#include <string>

#include "sim/model/model_config.h"

namespace sim {

struct ImageShape {
  std::int64_t channels = 3, pixels = 224;  // height = width
};

// resnet50 ..., amoebanet-d:LAYERS,FILTERS, unet:CONVOLUTIONS,CHANNELS; model_type is empty where it is none of them.
ModelConfig known_network(const std::string& architecture, ImageShape image);

}  // namespace sim
