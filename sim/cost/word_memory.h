// What words of few networks keep for their backward. A part of activation_memory; not for other rooms.
// n tokens, e bytes an element, w = max(e, 4) bytes of a statistic; c channels of this rank, N numbers of a state, r of narrow steps.
//
//   Selective (selective_scan_fn of mamba_ssm)  norm as Mlp; first product n 2c; convolved n c; narrow steps, B and C n (r + 2N), with norms twice and
//                                               3 w n; steps n c; what the scan puts out n c, gated n c; pairs of fp32 for each state behind 2048 tokens
//   ShortConvolution                            norm as Mlp; first product n 3c; B values, convolved, and C of it: n c each
//   norm in front of a last product             what it read, as wide as that, and w n
//   convolutions over sound                     of the encoder's places: 2 frames, 2 h twice, h
//   head whose rows are normed                  those rows, V h e
#pragma once

#include "sim/cost/activation_memory.h"
#include "sim/cost/segment_sizes.h"

namespace sim {

void add_channels(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan);
// In front of a last product, or of the head's rows.
void add_norms_of_words(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan);
void add_sound(SegmentMemory& memory, const ParallelPlan& plan);

}  // namespace sim
