// Counts the bytes of CPU tensors exactly: what LibTorch asked for and has not given back, and the highest that this ever was. For the memory
// ledger of a run and the peak of a step. Does not see memory outside tensors (code, MPI, workspaces of the matrix library).
#pragma once

#include "sim/units/quantity.h"

namespace executor {

// Replaces LibTorch's CPU allocator for the rest of the process: once, before the first tensor. Later calls do nothing.
void install_counting_allocator();

sim::Bytes alive_bytes();
sim::Bytes peak_bytes();  // since reset_peak()
void reset_peak();        // to what is alive now

}  // namespace executor
