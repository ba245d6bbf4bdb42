// Bytes that one microbatch keeps on one rank from forward to backward. Used by memory_estimate.
#pragma once

#include "sim/estimate/layer_work.h"
#include "sim/estimate/step_estimate.h"

namespace sim {

struct SavedActivations {
  double kept = 0;       // of a block, under the run's recomputation
  double whole = 0;      // of a block without recomputation: its working set while it is recomputed
  double passing = 0;    // alive at once in a block's forward beside what is kept
  double gradients = 0;  // alive at once in its backward
  double exchanged = 0;  // of other context ranks, beside a block's attention and its backward
  double logits = 0;     // of the head at its peak
  double embedding = 0;
};
SavedActivations saved_activations(const RunDescription& run, const Setting& setting, BlockKind kind);

}  // namespace sim
