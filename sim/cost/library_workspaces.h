// What our worker's process on a GPU gives the matrix library beside tensors: LibTorch's allocator holds it from the first products on, and counts it.
//
// LibTorch 2.11 (aten/src/ATen/cuda/CublasHandlePool.cpp): each thread that multiplies has a handle, and a handle has a workspace for each stream that it
// multiplies on (HardwareProfile::handle_workspace). The worker's forward has one thread, autograd's engine another for a device's backward
// (torch/csrc/autograd/engine.cpp), and both multiply on the stream of computing. Low-rank factors of gradients are made beside it, on that of reductions.
// A thread whose products add a bias, or have scales, asks cuBLASLt, which has a workspace beside the handle's: 1 MiB on every card.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

Bytes library_workspaces(const ParallelPlan& plan);  // of a stage that multiplies; nothing on a CPU, or of another program
Bytes library_workspaces(const ParallelPlan& plan, StageIndex stage);  // nothing where a stage is an embedding alone

}  // namespace sim
