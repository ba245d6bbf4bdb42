#include "executor/kernels/counting_allocator.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

class CountingAllocator : public ::testing::Test {
 protected:
  void SetUp() override { install_counting_allocator(); }
};

TEST_F(CountingAllocator, CountsWhatIsAlive) {
  const auto before = alive_bytes();
  {
    const at::Tensor floats = at::empty({1000}, at::kFloat), same = floats.view({10, 100});
    EXPECT_EQ(alive_bytes() - before, sim::Bytes(4000));
    const at::Tensor bytes = at::empty({7}, at::kByte), nothing = at::empty({0}, at::kFloat);
    EXPECT_EQ(alive_bytes() - before, sim::Bytes(4007));
  }
  EXPECT_EQ(alive_bytes(), before);
}

TEST_F(CountingAllocator, PeakIsTheHighestSinceItsReset) {
  reset_peak();
  const auto before = alive_bytes();
  EXPECT_EQ(peak_bytes(), before);
  { const at::Tensor large = at::empty({1 << 20}, at::kDouble); }
  EXPECT_EQ(peak_bytes() - before, sim::Bytes(8 << 20));
  reset_peak();
  EXPECT_EQ(peak_bytes(), before);
}

TEST_F(CountingAllocator, MemoryIsAlignedAndUsable) {
  for (std::int64_t elements = 1; elements < 100; ++elements) {
    const at::Tensor tensor = at::ones({elements}, at::kFloat);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % 64, 0U);
    EXPECT_EQ(tensor.sum().item<float>(), static_cast<float>(elements));
  }
}

TEST_F(CountingAllocator, FollowsStoragesThatChangeTheirSize) {
  const auto before = alive_bytes();
  at::Tensor tensor = at::empty({100}, at::kFloat);
  tensor.resize_({1000});
  EXPECT_EQ(alive_bytes() - before, sim::Bytes(4000));
}

}  // namespace
}  // namespace executor
