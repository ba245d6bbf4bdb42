// What each block reads of a token beside the stream (ModelConfig::layer_inputs; Gemma 3n, Gemma 4): made in front of the first block, added behind a
// feed-forward. Not for other rooms.
#pragma once

#include <vector>

#include "sim/model/parameter_list.h"
#include "sim/model/segment_builder.h"

namespace sim {

// In front of the first block: of each block a part. None where the network has no such inputs.
std::vector<Operator> inputs_of_layers(const ModelConfig& config);
void add_parameters_of_inputs(ParameterList& parameters, const ModelConfig& config);

// Behind a block's feed-forward: its own part, weighted by what the stream says, is added to it.
void add_layer_input(SegmentBuilder& segment, const ModelConfig& config, std::int32_t tail);
void add_layer_input_parameters(ParameterList& parameters, const ModelConfig& config);

}  // namespace sim
