#include "executor/kernels/gpu_operators.h"

#include <gtest/gtest.h>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

constexpr Card kNone{}, kAmpereCard{.is_gpu = true, .capability = 80}, kHopperCard{.is_gpu = true, .capability = 90};

TEST(GpuOperators, ACpuAndTheCheckedDeviceAreNoCards) {
  for (const c10::Device device : {c10::Device(c10::kCPU), checked_device()}) {
    EXPECT_FALSE(card_of(device).is_gpu);
    EXPECT_EQ(card_of(device).capability, 0);
  }
}

TEST(GpuOperators, WiderSumsTakeProductsUnrounded) {
  EXPECT_TRUE(adds_unrounded(kAmpereCard, {.product = at::kBFloat16, .sum = at::kFloat}));
  EXPECT_TRUE(adds_unrounded(kHopperCard, {.product = at::kHalf, .sum = at::kFloat}));
  EXPECT_FALSE(adds_unrounded(kHopperCard, {.product = at::kBFloat16, .sum = at::kBFloat16}));
  EXPECT_FALSE(adds_unrounded(kHopperCard, {.product = at::kFloat, .sum = at::kFloat}));
  EXPECT_FALSE(adds_unrounded(kNone, {.product = at::kBFloat16, .sum = at::kFloat}));
}

TEST(GpuOperators, FlashAttentionTakesSixteenBitsAndHeadsThatFit) {
  EXPECT_TRUE(attends_by_blocks(kAmpereCard, {.type = at::kBFloat16, .width = 256}));
  EXPECT_FALSE(attends_by_blocks(kAmpereCard, {.type = at::kBFloat16, .width = 264}));
  EXPECT_FALSE(attends_by_blocks(kHopperCard, {.type = at::kFloat, .width = 64}));
  EXPECT_FALSE(attends_by_blocks(kNone, {.type = at::kBFloat16, .width = 64}));
}

TEST(GpuOperators, GroupedProductsTakeRowsOfSixteenBytes) {
  EXPECT_TRUE(multiplies_groups(kHopperCard, {.type = at::kBFloat16, .inputs = 64, .outputs = 24}));
  EXPECT_FALSE(multiplies_groups(kHopperCard, {.type = at::kBFloat16, .inputs = 60, .outputs = 24}));
  EXPECT_FALSE(multiplies_groups(kHopperCard, {.type = at::kHalf, .inputs = 64, .outputs = 24}));
  EXPECT_FALSE(multiplies_groups(kAmpereCard, {.type = at::kBFloat16, .inputs = 64, .outputs = 24}));
}

TEST(GpuOperators, EightBitProductsAreOfWholeSixteens) {
  const EightBitProduct product{.is_rowwise = false, .output = at::kFloat, .inner = 32, .columns = 48};
  EXPECT_TRUE(multiplies_eight_bits(kHopperCard, product));
  EXPECT_FALSE(multiplies_eight_bits(kAmpereCard, product));
  EXPECT_FALSE(multiplies_eight_bits(kHopperCard, {.is_rowwise = false, .output = at::kFloat, .inner = 40, .columns = 48}));
  EXPECT_FALSE(multiplies_eight_bits(kHopperCard, {.is_rowwise = false, .output = at::kFloat, .inner = 32, .columns = 40}));
  EXPECT_FALSE(multiplies_eight_bits(kHopperCard, {.is_rowwise = true, .output = at::kFloat, .inner = 32, .columns = 48}))
      << "rows put bf16 out";
  EXPECT_TRUE(multiplies_eight_bits(kHopperCard, {.is_rowwise = true, .output = at::kBFloat16, .inner = 32, .columns = 48}));
}

}  // namespace
}  // namespace executor
