// A network in a few words, as people name it by its size.
#pragma once

#include <cstdint>
#include <string>

#include "sim/model/model_config.h"

namespace sim {

std::string count_text(std::int64_t count);                // "859 K", "124 M", "70.6 B"
std::string family_and_size(const ModelConfig& config);    // "llama (70.6 B)", by its parameters
std::string letters_of_layers(const ModelConfig& config);  // "M-M*ME": a letter a layer, as nemotron_h and Megatron-LM have them

}  // namespace sim
