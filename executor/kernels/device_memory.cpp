#include "executor/kernels/device_memory.h"

#include <c10/core/CachingDeviceAllocator.h>

#include "executor/kernels/counting_allocator.h"

namespace executor {
namespace {

using Stats = c10::CachingDeviceAllocator::StatArray;
constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

sim::Bytes current_of(const Stats& stats) { return sim::Bytes(stats[kAll].current); }
sim::Bytes peak_of(const Stats& stats) { return sim::Bytes(stats[kAll].peak); }
sim::Bytes bytes(std::size_t count) { return sim::Bytes(static_cast<std::int64_t>(count)); }

}  // namespace

DeviceMemory device_memory(c10::Device device, const DeviceMemory& before) {
  if (device.is_cpu()) return {.allocated = alive_bytes(), .allocated_peak = peak_bytes()};
  c10::DeviceAllocator& allocator = *c10::getDeviceAllocator(device.type());
  const auto stats = allocator.getDeviceStats(device.index());
  DeviceMemory memory{.allocated = current_of(stats.requested_bytes),
                      .allocated_peak = peak_of(stats.requested_bytes),
                      .active_peak = peak_of(stats.active_bytes),
                      .reserved_peak = peak_of(stats.reserved_bytes),
                      .device_used = before.device_used,
                      .device_total = before.device_total};
  if (before.device_total > sim::Bytes(0) && memory.reserved_peak == before.reserved_peak) return memory;
  const auto [free, total] = allocator.getMemoryInfo(device.index());
  memory.device_used = bytes(total - free);
  memory.device_total = bytes(total);
  return memory;
}

void reset_memory_peaks(c10::Device device) {
  if (device.is_cpu())
    reset_peak();
  else
    c10::getDeviceAllocator(device.type())->resetPeakStats(device.index());
}

}  // namespace executor
