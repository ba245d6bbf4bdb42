// What ranks hold, block by block, as a memory snapshot of PyTorch's allocator, so that a plan opens where people look at their runs:
// pytorch.org/memory_viz, torch.cuda._memory_viz.
//
// A rank is a device of the snapshot. Each block is a segment of its own: a plan has no caching and no fragmentation, and what is
// reserved is what is allocated. The "stack" of a block says whose it is:
//
//   layer:5:attention activations        filename:line:name, innermost first
//   microbatch:3:forward
//   stage:1:training step
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/timeline/timeline.h"
#include "sim/units/told.h"

namespace sim {

struct MemoryBlock {
  MemoryCategory category{};
  std::optional<TaskKey> owner;  // the task that took it; none: there before the step
  Bytes size{};
  SimTime taken{};
  SimTime freed = SimTime::max();  // max: it stays
  MemoryPool pool = MemoryPool::Kernels;
};
struct RankMemory {
  GraphDevice device;
  std::vector<MemoryBlock> blocks;
};

// One step. Throws InputError naming the disk's reason.
void write_memory_snapshot(const std::vector<RankMemory>& ranks, const std::string& path, const Told& told = {});

}  // namespace sim
