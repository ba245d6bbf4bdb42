// Ranges that a profiler shows around what the host launches (Nsight Systems, or whoever else listens to NVTX): a step by its number, within it each
// task by its key. Who listens is loaded by NVTX_INJECTION64_PATH, as nsys sets it; else a range costs a look at a flag.
#pragma once

#include <cstdint>

#include "sim/task_graph/task.h"

namespace executor {

class ProfilerRange {
 public:
  explicit ProfilerRange(std::int64_t step);
  explicit ProfilerRange(const sim::TaskKey& key);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace executor
