#include "executor/training/host_buffer.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include "executor/kernels/counting_allocator.h"
#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

TEST(HostBuffer, IsOnTheHostAndWritable) {
  for (const c10::Device device : {c10::Device(c10::kCPU), checked_device()}) {
    const at::Tensor buffer = host_buffer({10, 10}, {.device = device, .type = at::kBFloat16});
    EXPECT_TRUE(buffer.is_cpu());
    buffer.fill_(2.0);
    EXPECT_EQ(buffer.sum().item<double>(), 200.0);
  }
}

// The allocator's count is the device's on a CPU.
TEST(HostBuffer, IsNotCountedWithTheDevice) {
  install_counting_allocator();
  const sim::Bytes before = alive_bytes();
  const at::Tensor buffer = host_buffer({1 << 16}, {});
  EXPECT_EQ(alive_bytes(), before);
}

}  // namespace
}  // namespace executor
