#include "sim/cost/kernel_prices.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

HardwareProfile plain_machine() {
  HardwareProfile hardware = testing::two_core_machine();
  hardware.memory_bandwidth = BytesPerSecond(1e9);
  hardware.peak[static_cast<std::size_t>(Precision::Fp32)] = FlopsPerSecond(1e12);
  hardware.matrix_efficiency = 0.5;
  hardware.attention_efficiency = 0.25;
  hardware.kernel_overhead = Seconds(1e-5);
  return hardware;
}

TEST(KernelPrices, RooflineIsTheSlowerOfComputingAndMoving) {
  const HardwareProfile hardware = plain_machine();
  const KernelPrices prices(hardware, Precision::Fp32, {1});
  // 2 * 1000^3 flops at half of 1 TFLOP/s: 4 ms; 3 * 4 MB at 1 GB/s: 12 ms.
  EXPECT_DOUBLE_EQ(prices.time({Kernel::LinearForward, {1000, 1000, 1000}}, CallKind::Plain).count(), 12e-3 + 1e-5);
  // Eight times the flops per byte of a side of 8,000: computing decides.
  EXPECT_DOUBLE_EQ(prices.time({Kernel::LinearForward, {8000, 8000, 8000}}, CallKind::Plain).count(), 2 * 512e9 / 0.5e12 + 1e-5);
  EXPECT_DOUBLE_EQ(prices.time({Kernel::ResidualForward, {1000, 1000}}, CallKind::Plain).count(), 12e-3 + 1e-5);
  EXPECT_DOUBLE_EQ(prices.time({Kernel::AttentionForward, {1, 10, 10000, 100}}, CallKind::Plain).count(),
                   2.0 * 10 * 100 * 10000 * 10001 / 0.25e12 + 1e-5);
}

TEST(KernelPrices, AMeasuredShapeCostsWhatWasMeasured) {
  HardwareProfile hardware = plain_machine();
  hardware.measured.push_back({.kernel = Kernel::LinearForward, .shape = {64, 256, 64}, .time = Seconds(123e-6)});
  hardware.measured.push_back({.kernel = Kernel::LinearForward, .shape = {128, 256, 64}, .time = Seconds(200e-6)});
  hardware.measured.push_back({.kernel = Kernel::AdamW, .shape = {1000}, .time = Seconds(77e-6)});
  const KernelPrices prices(hardware, Precision::Fp32, {1});
  EXPECT_NEAR(prices.time({Kernel::LinearForward, {64, 256, 64}}, CallKind::Plain).count(), 123e-6, 1e-15);
  EXPECT_NEAR(prices.time({Kernel::LinearForward, {128, 256, 64}}, CallKind::Plain).count(), 200e-6, 1e-15);
  EXPECT_NEAR(prices.time({Kernel::AdamW, {1000}}, CallKind::Plain).count(), 77e-6, 1e-15);
  // Far away the roofline scales it.
  const double ratio =
      prices.time({Kernel::AdamW, {1'000'000}}, CallKind::Plain) / prices.roofline(Kernel::AdamW, std::vector<std::int64_t>{1'000'000});
  EXPECT_NEAR(ratio, Seconds(77e-6) / prices.roofline(Kernel::AdamW, std::vector<std::int64_t>{1000}), 1e-9);
}

TEST(KernelPrices, AnotherPrecisionBendsAlikeWhereMemoryBounds) {
  HardwareProfile hardware = plain_machine();
  hardware.peak[static_cast<std::size_t>(Precision::Bf16)] = FlopsPerSecond(2e12);
  const KernelPrices without(hardware, Precision::Bf16, {1}), fp32(hardware, Precision::Fp32, {1});
  const KernelCall residual{Kernel::ResidualForward, {1000, 1000}}, product{Kernel::LinearForward, {64, 256, 64}};
  hardware.measured.push_back(
      {.kernel = Kernel::ResidualForward, .shape = {1000, 1000}, .time = fp32.time(residual, CallKind::Plain) * 3.0});
  hardware.measured.push_back({.kernel = Kernel::LinearForward, .shape = {64, 256, 64}, .time = Seconds(1)});
  const KernelPrices prices(hardware, Precision::Bf16, {1});
  EXPECT_NEAR(prices.time(residual, CallKind::Plain) / without.time(residual, CallKind::Plain), 3.0, 1e-9);
  EXPECT_EQ(prices.time(product, CallKind::Plain), without.time(product, CallKind::Plain)) << "a matrix unit's speed is not fp32's";
}

TEST(KernelPrices, CallsAddWhatOverheadDoesNotHold) {
  HardwareProfile hardware = plain_machine();
  hardware.measured.push_back({.kernel = Kernel::OperatorCall, .shape = {}, .time = Seconds(3e-5)});
  hardware.measured.push_back({.kernel = Kernel::AutogradCall, .shape = {}, .time = Seconds(4e-5)});
  const KernelPrices prices(hardware, Precision::Fp32, {1});
  const KernelCall call{Kernel::NormForward, {100, 100}};
  const Seconds plain = prices.time(call, CallKind::Plain);
  EXPECT_NEAR((prices.time(call, CallKind::Forward) - plain).count(), 2e-5, 1e-15);
  EXPECT_NEAR((prices.time(call, CallKind::Backward) - plain).count(), 3e-5, 1e-15);
}

TEST(KernelPrices, SaysHowManyRanksItsPointsHold) {
  HardwareProfile hardware = plain_machine();
  EXPECT_EQ(KernelPrices(hardware, Precision::Fp32, {2}).measured_concurrency(), 1);
  for (const std::int32_t ranks : {1, 2})
    hardware.measured.push_back(
        {.kernel = Kernel::LinearForward, .concurrent_ranks = ranks, .shape = {64, 256, 64}, .time = Seconds(ranks * 1e-4)});
  EXPECT_EQ(KernelPrices(hardware, Precision::Fp32, {1}).measured_concurrency(), 1);
  const KernelPrices two(hardware, Precision::Fp32, {2});
  EXPECT_EQ(two.measured_concurrency(), 2);
  EXPECT_NEAR(two.time({Kernel::LinearForward, {64, 256, 64}}, CallKind::Plain).count(), 2e-4, 1e-15);
}

TEST(KernelPrices, AShareIsPartOfAKernel) {
  const HardwareProfile hardware = plain_machine();
  const KernelPrices prices(hardware, Precision::Fp32, {1});
  const Seconds whole = prices.time({Kernel::CrossEntropyForward, {100, 1000}}, CallKind::Plain);
  EXPECT_DOUBLE_EQ((prices.time({Kernel::CrossEntropyForward, {100, 1000}, 0.25}, CallKind::Plain) * 4).count(), whole.count());
}

}  // namespace
}  // namespace sim
