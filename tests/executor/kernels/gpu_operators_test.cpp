#include "executor/kernels/gpu_operators.h"

#include <gtest/gtest.h>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

constexpr Card kNone{}, kAmpereCard{.is_gpu = true, .capability = 80}, kHopperCard{.is_gpu = true, .capability = 90},
    kBlackwellCard{.is_gpu = true, .capability = 100};

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
  const EightBitProduct product{.scales = ScaledBy::Tensor, .output = at::kFloat, .rows = 3, .inner = 32, .columns = 48};
  EXPECT_TRUE(multiplies_eight_bits(kHopperCard, product));
  EXPECT_TRUE(multiplies_eight_bits(kBlackwellCard, product));
  EXPECT_FALSE(multiplies_eight_bits(kAmpereCard, product));
  const auto with = [&](auto change) {
    EightBitProduct other = product;
    change(other);
    return multiplies_eight_bits(kHopperCard, other);
  };
  EXPECT_FALSE(with([](EightBitProduct& other) { other.inner = 40; }));
  EXPECT_FALSE(with([](EightBitProduct& other) { other.columns = 40; }));
  EXPECT_FALSE(with([](EightBitProduct& other) { other.scales = ScaledBy::Row; })) << "rows put bf16 out";
  EXPECT_TRUE(with([](EightBitProduct& other) {
    other.scales = ScaledBy::Row;
    other.output = at::kBFloat16;
  }));
}

TEST(GpuOperators, ScalesOfBlocksComeFourAtATime) {
  const auto takes = [](Card card, ScaledBy scales, std::int64_t rows, std::int64_t inner) {
    return multiplies_eight_bits(card, {.scales = scales, .output = at::kBFloat16, .rows = rows, .inner = inner, .columns = 48});
  };
  EXPECT_TRUE(takes(kHopperCard, ScaledBy::Blocks, 12, 384));
  EXPECT_FALSE(takes(kHopperCard, ScaledBy::Blocks, 14, 384));
  EXPECT_FALSE(takes(kHopperCard, ScaledBy::Blocks, 12, 320));
  EXPECT_FALSE(takes(kHopperCard, ScaledBy::Squares, 12, 384));
  EXPECT_TRUE(takes(kHopperCard, ScaledBy::Squares, 12, 512));
  EXPECT_FALSE(takes(kBlackwellCard, ScaledBy::Squares, 12, 512)) << "LibTorch has them for Hopper";
  EXPECT_TRUE(takes(kBlackwellCard, ScaledBy::Mx, 13, 128));
  EXPECT_FALSE(takes(kBlackwellCard, ScaledBy::Mx, 13, 96));
  EXPECT_FALSE(takes(kHopperCard, ScaledBy::Mx, 13, 128));
}

}  // namespace
}  // namespace executor
