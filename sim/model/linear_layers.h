// The segment of linear attention, and its parameters. Not for other rooms.
#pragma once

#include "sim/model/parameter_list.h"
#include "sim/model/segment.h"

namespace sim {

// Beside attention it reads attention's norm, and has none.
SegmentGraph linear_segment(const ModelConfig& config);
void add_linear_parameters(ParameterList& parameters, const ModelConfig& config, double into_residual);

}  // namespace sim
