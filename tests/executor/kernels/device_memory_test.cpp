#include "executor/kernels/device_memory.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "executor/kernels/counting_allocator.h"
#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

TEST(DeviceMemory, CountsATensorAndItsPeak) {
  install_counting_allocator();
  for (const c10::Device device : {c10::Device(c10::kCPU), checked_device()}) {
    reset_memory_peaks(device);
    const DeviceMemory before = device_memory(device);
    EXPECT_EQ(before.allocated, before.allocated_peak);
    at::Tensor tensor = at::empty({1000}, at::TensorOptions().dtype(at::kDouble).device(device));
    EXPECT_EQ(device_memory(device).allocated - before.allocated, sim::Bytes(8000));
    tensor.reset();
    EXPECT_EQ(device_memory(device).allocated, before.allocated);
    EXPECT_EQ(device_memory(device).allocated_peak - before.allocated, sim::Bytes(8000));
  }
}

TEST(DeviceMemory, TheDeviceItselfSaysWhatIsLeft) {
  EXPECT_EQ(device_memory(checked_device()).device_total, sim::Bytes(std::int64_t{8} << 30));
  EXPECT_EQ(device_memory(checked_device()).device_used, sim::Bytes(std::int64_t{7} << 30));
}

TEST(DeviceMemory, TheDeviceIsAskedAgainWhereThePoolHasGrown) {
  DeviceMemory before = device_memory(checked_device());
  before.device_used = sim::Bytes(1);
  EXPECT_EQ(device_memory(checked_device(), before).device_used, sim::Bytes(1));
  before.reserved_peak += sim::Bytes(1);
  EXPECT_EQ(device_memory(checked_device(), before).device_used, sim::Bytes(std::int64_t{7} << 30));
}

}  // namespace
}  // namespace executor
