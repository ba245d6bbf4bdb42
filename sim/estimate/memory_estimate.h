// Memory of the fullest GPU as an allocator would show it at its peak: states of the optimizer, saved activations of the microbatches in
// flight, logits, gathered weights, library buffers. Used by step_estimate.
#pragma once

#include "sim/estimate/step_estimate.h"

namespace sim {

struct MemoryEstimate {
  double total_gib = 0;   // as the program shows it: see SoftwareStack::shows_reserved
  double needed_gib = 0;  // what tensors occupy at once
  double available_gib = 0;
  double states_gib = 0, activations_gib = 0, peak_gib = 0;  // peak: logits, gathered layers, working set
};

MemoryEstimate estimate_memory(const RunDescription& run, const Setting& setting);
void take_memory(const MemoryEstimate& memory, const Behavior& known, StepEstimate& estimate);

}  // namespace sim
