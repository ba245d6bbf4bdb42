// What a counter shows of a device whose tensors peak at a simulated amount. Published figures read different ones, so that each is compared
// with what it counts.
//
//   Allocated   tensors, and scratch that libraries take from the same allocator: torch.cuda.max_memory_allocated
//   Reserved    and what the caching allocator holds beside them: torch.cuda.max_memory_reserved
//   Device      and the driver's context, library handles, communication buffers: nvidia-smi
#pragma once

#include <cstdint>

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/timeline.h"

namespace sim {

enum class MemoryCounter : std::uint8_t { Allocated, Reserved, Device };
// cached: what the allocator holds beside tensors (sim/allocator/reserved_memory.h).
Bytes counted(MemoryCounter counter, const ParallelPlan& plan, const MemoryBreakdown& at_peak, Bytes cached);

}  // namespace sim
