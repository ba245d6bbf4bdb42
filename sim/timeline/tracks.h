// What every trace format needs of a timeline: whole nanoseconds, rows without overlap, names of ranks, which send belongs to which
// receive.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/timeline/timeline.h"

namespace sim {

using Nanoseconds = std::chrono::duration<std::int64_t, std::nano>;
Nanoseconds to_nanoseconds(SimTime time);  // to nearest

// Slices of one row must not overlap, or Perfetto drops them: gives each span of a stream the first lane that is free.
std::vector<std::int32_t> lanes_of(std::span<const Span> spans);

// Names the transfer that a send and its receive share; `line` tells apart the pipelines of other data and tensor ranks.
// Zero: the key is no transfer.
struct PipelineLine {
  std::int32_t value = 0;
};
std::uint64_t flow_id(const TaskKey& key, std::int64_t step, PipelineLine line);
// By device. Unfolded, several pipelines run side by side: the position of a rank inside its stage names its own.
std::vector<PipelineLine> pipeline_lines(const std::vector<GraphDevice>& devices);

std::string track_name(const GraphDevice& device);  // "stage 1, rank 4 and 3 like it"

}  // namespace sim
