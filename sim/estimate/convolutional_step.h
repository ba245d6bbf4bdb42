// Step of a convolutional network: each convolution by flops or bytes, norms and activations by bytes, gradients over the ranks.
// Used by step_estimate and memory_estimate.
#pragma once

#include "sim/estimate/step_estimate.h"

namespace sim {

StepParts convolutional_parts(const RunDescription& run, const Setting& setting);
double convolutional_memory_gib(const RunDescription& run, const Setting& setting);

}  // namespace sim
