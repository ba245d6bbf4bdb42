// Four numbers that users confuse, side by side: what tensors hold, what blocks they were given, what the pool keeps, what the device has lent to all
// processes together. Of a CPU only the first (counting_allocator.h). Peaks are since reset_memory_peaks().
#pragma once

#include <c10/core/Device.h>

#include "sim/units/quantity.h"

namespace executor {

struct DeviceMemory {
  sim::Bytes allocated{};  // now: asked for by tensors
  sim::Bytes allocated_peak{};
  sim::Bytes active_peak{};    // blocks that tensors hold, or that a stream still needs
  sim::Bytes reserved_peak{};  // taken from the device by LibTorch's pool
  sim::Bytes device_used{};    // now: total minus free; contexts, NCCL, cuBLAS and other processes too
  sim::Bytes device_total{};
};
// before: what was known last. The driver is asked what the device has lent only where the pool has grown since: it answers slowly.
DeviceMemory device_memory(c10::Device device, const DeviceMemory& before = {});
void reset_memory_peaks(c10::Device device);

}  // namespace executor
