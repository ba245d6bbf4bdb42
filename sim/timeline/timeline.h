// Spans in memory: what ran where, from when to when, and the memory beside it. A simulation makes one; a trace file is read into one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/task_graph/task.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/sim_time.h"

namespace sim {

struct Span {
  DeviceId device;
  Stream stream{};
  TaskKey key;
  SimTime start{}, end{};
  bool operator==(const Span&) const = default;
};

enum class MemoryCategory : std::uint8_t {
  Parameters,
  Gradients,
  OptimizerState,
  Activations,
  GatheredUnits,
  CommunicationBuffers,
  Temporaries
};
inline constexpr std::string_view kMemoryCategoryNames[] = {
    "parameters", "gradients", "optimizer_state", "activations", "gathered_units", "communication_buffers", "temporaries"};
inline constexpr std::size_t kNumMemoryCategories = 7;
using MemoryBreakdown = std::array<Bytes, kNumMemoryCategories>;
Bytes total(const MemoryBreakdown& memory);
// Whose blocks an allocator gives out again to the same stream alone: that of the kernels, or those on which weights are gathered and gradients reduced, one
// buffer at a time.
enum class MemoryPool : std::uint8_t { Kernels, Gathers, Reductions };

struct MemorySample {  // what is alive from `time` on
  DeviceId device;
  SimTime time{};
  MemoryBreakdown alive{};
  bool operator==(const MemorySample&) const = default;
};

struct Timeline {
  std::vector<GraphDevice> devices;
  std::vector<Span> spans;           // ordered by device, then start, then key
  std::vector<MemorySample> memory;  // ordered by device, then time
};

// One line a device, compute order as "F0 F1 B0 ...", for golden texts:   stage 0 | F0 F1 B0 F2 B1 B2
std::string order_text(const Timeline& timeline);
// A picture of `columns` characters a device: F, B, r (recompute), = (communication), s (step), '.' idle; a scale below.
struct Columns {
  std::int32_t value = 100;
};
std::string picture_text(const Timeline& timeline, Columns columns);

}  // namespace sim
