// What a GPU rank's device holds beside the tensors of the simulated peak. Estimates, not measured yet: shown beside the peak, not part of it.
// Chances to run out count them (memory_interval.h).
//
//   NCCL   a communicator has two connections a channel (ring, tree) to receive from and to send to a neighbour. One to receive from holds the FIFOs of the
//          three protocols (NCCL's src/init.cc: Simple 4 MiB, LL 512 KiB, LL128 4,915,200 bytes), one to send to its counters; both in pages of 2 MiB.
//          NVLink: two channels a link, at most 32 (MAXCHANNELS); else two an adapter. 4 x A100 (github.com/NVIDIA/nccl/issues/964) was seen to take
//          544 MB with one neighbour and 688 with two; this says 576 MiB. Each flow of a pipeline is a communicator with one end of one connection.
//   pool   LibTorch's allocator keeps blocks that fit nothing, also when the device is full: a share of what comes and goes
//          (SoftwareStack::fragmentation). What it holds while there is room, and would give back, is sim/allocator's. Where gathers of
//          ZeRO-3 have a stream of their own, its blocks go to no other (SoftwareStack::stages_gathers). So it is with shards of gradients, which
//          FSDP 2 allocates on the stream of its reductions: beside whatever the rest's fullest moment is (SoftwareStack::unit_buffers).
// Not there: the CUDA context and library handles.
#pragma once

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct MemoryBeside {
  std::int32_t communicators = 0, flows = 0, channels = 0;
  Bytes nccl{}, pool{};
};
MemoryBeside memory_beside(const ParallelPlan& plan, const MemoryBreakdown& at_peak);  // nothing on a CPU

}  // namespace sim
