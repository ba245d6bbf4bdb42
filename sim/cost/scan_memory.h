// What layers keep for their backward that hand on a state or convolve a few tokens. A part of activation_memory, whose table has scans of heads; here are
// those of channels. add_scan is not for other rooms.
// n tokens, e bytes an element, w = max(e, 4) bytes of a statistic; c channels of this rank, N numbers of a state, r of narrow steps.
//
//   Selective, as mamba_inner_fn of mamba_ssm   norm as Mlp; first product n 2c; narrow steps, B and C n (r + 2N), the latter once more; what the scan puts
//                                               out n c; pairs of fp32 for each state behind 2048 tokens. Backward: convolved, steps, gated, n c each
//     norms with weights: selective_scan_fn     the same without B and C; those norms' outputs n (r + 2N) and 3 w n; convolved, steps and gated are kept
//   ShortConvolution                            norm as Mlp; first product n 3c; B values, convolved, and C of it: n c each
#pragma once

#include "sim/cost/segment_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

// One call makes convolution, scan and all between, and some of it again in the backward.
bool is_one_call(const LinearForm& form);
void add_scan(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan);

}  // namespace sim
