// What a CPU's library of convolutions lays anew around one: its operands with channels in blocks of 16, and what it makes in the same form before that is
// copied out (oneDNN with AVX-512, as LibTorch calls it; 980). Of a GPU nothing here: its library asks its allocator for what a kernel wants.
//
//   forward     x w y' | y' y                    what is alive beside x and y; a stroke: the library gives back
//   backward    g w x' | x' x | x g w' | w' w
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

// Beside the map that comes out. Of a layer with several, the largest.
Bytes copies_forward(const Layer& layer, const ParallelPlan& plan);
Bytes copies_backward(const Layer& layer, const ParallelPlan& plan);

}  // namespace sim
