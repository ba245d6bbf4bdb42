// A memory snapshot of PyTorch's caching allocator (torch.cuda.memory._dump_snapshot): what was allocated when, and by which line of the
// program. What was there before the recording began is known from the segments at its end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/core/memory_curve.h"
#include "gui/import/text_source.h"

namespace gui {

enum class AllocatedIn : std::uint8_t { Before, Forward, Backward, Optimizer, Elsewhere };  // judged by the names in the stack
inline constexpr std::size_t kNumAllocatedIn = 5;

struct Allocation {
  sim::SimTime begin{}, end{};  // end: max() while it lives
  sim::Bytes size{};
  std::uint32_t owner = 0;  // into owners
};

struct SnapshotDevice {
  std::int32_t number = 0;
  std::vector<Allocation> allocations;   // in order of begin
  std::vector<sim::MemorySample> curve;  // category: memoryOf(AllocatedIn)
  sim::Bytes before{};                   // allocated when the recording began
  sim::Bytes most_reserved{};            // from the driver
  sim::SimTime length{};
  std::int64_t malformed = 0;  // events without what an event needs, frees of what was never seen
};

struct MemorySnapshot {
  std::string path;
  std::vector<SnapshotDevice> devices;  // those with events or memory
  std::vector<std::string> owners;      // "train.py:12 forward"
};
using SharedSnapshot = std::shared_ptr<const MemorySnapshot>;

sim::MemoryCategory memoryOf(AllocatedIn part);  // whose color it has

// Throws sim::InputError: no pickle, no snapshot, cut, cancelled.
SharedSnapshot importSnapshot(const std::string& path, Progress& progress);

struct OwnedMemory {
  std::uint32_t owner = 0;
  std::int64_t allocations = 0;
  sim::Bytes size{};
};
std::vector<OwnedMemory> aliveAt(const SnapshotDevice& device, sim::SimTime time);  // by owner, largest first

}  // namespace gui
