// A convolutional network that no config.json states.
#pragma once

#include <string>

#include "sim/model/model_config.h"

namespace sim {

// family: resnet, regnet, amoebanet or unet, as the form's kind is.
ModelConfig convolutional_model(const std::string& family, const ConvolutionForm& form, std::int64_t classes);

}  // namespace sim
