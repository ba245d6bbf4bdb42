#include <gmock/gmock.h>

#include "sim/clock/kernel_clock.h"
#include "tests/sim/clock/devices.h"

namespace sim {
namespace {

double time_of(NumberFormat format, const Convolution& shape, Gradient gradient = Gradient::None) {
  static const Device v100 = load_device("v100-16gb-sxm2");
  KernelSetting setting;
  setting.format = format;
  return KernelClock(v100, plain_stack(), setting).convolution(shape, 16, gradient).device;
}

// Points of DeepBench on V100, batch 16: 3x3 with 128 to 256 channels of 56 x 56, and 512 of 14 x 14.
TEST(ConvolutionClock, MeasuredPoints) {
  const Convolution wide{128, 256, 3, 3, 1, 56}, deep{512, 512, 3, 3, 1, 14};
  const auto rate = [](const Convolution& shape, double time) { return 2 * 16 * shape.size * shape.size * shape.weights() / time / 1e12; };
  EXPECT_NEAR(rate(wide, time_of(NumberFormat::Fp16, wide)), 93, 25);
  EXPECT_NEAR(rate(wide, time_of(NumberFormat::Fp32, wide)), 33, 8);
  EXPECT_NEAR(rate(deep, time_of(NumberFormat::Fp16, deep)), 74, 25);
  EXPECT_NEAR(rate(deep, time_of(NumberFormat::Fp32, deep)), 29, 8);
  EXPECT_NEAR(rate(deep, time_of(NumberFormat::Fp32, deep, Gradient::Weight)), 31, 8);
}

TEST(ConvolutionClock, GroupsOfOneChannelAreBoundByMemory) {
  const Convolution depthwise{256, 256, 3, 3, 1, 56, 256}, whole{256, 256, 3, 3, 1, 56};
  const double bytes = 2 * 16 * 256 * 56 * 56 * 2.0;
  EXPECT_GT(time_of(NumberFormat::Fp16, depthwise), bytes / 900e9);
  EXPECT_LT(time_of(NumberFormat::Fp16, depthwise), time_of(NumberFormat::Fp32, whole));
}

TEST(ConvolutionClock, NarrowGroupsFillNoTensorCore) {
  const Convolution grouped{256, 256, 3, 3, 1, 28, 32}, whole{256, 256, 3, 3, 1, 28};
  EXPECT_GT(time_of(NumberFormat::Fp16, grouped), time_of(NumberFormat::Fp16, whole) / 32);
}

}  // namespace
}  // namespace sim
