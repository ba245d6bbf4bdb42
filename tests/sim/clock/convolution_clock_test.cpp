#include <gmock/gmock.h>

#include "sim/clock/kernel_clock.h"
#include "tests/sim/clock/devices.h"

namespace sim {
namespace {

enum class Channels : std::uint8_t { Last, First };

double time_of(NumberFormat format, const Convolution& shape, Gradient gradient = Gradient::None, Channels channels = Channels::Last) {
  static const Device v100 = load_device("v100-16gb-sxm2");
  KernelSetting setting;
  setting.format = format;
  SoftwareStack stack = plain_stack();
  stack.channels_first = channels == Channels::First;
  return KernelClock(v100, stack, setting).convolution(shape, 16, gradient).device;
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

// Both maps are read and written once around the kernel, at the rate of a copy; a kernel costs at least half its overhead.
TEST(ConvolutionClock, MapsWithChannelsFirstAreTurnedAroundIn16Bit) {
  const Device v100 = load_device("v100-16gb-sxm2");
  const Convolution shape{64, 256, 1, 1, 2, 28}, depthwise{256, 256, 3, 3, 1, 56, 256};
  const auto more = [](NumberFormat format, const Convolution& of, Gradient gradient) {
    return time_of(format, of, gradient, Channels::First) - time_of(format, of, gradient);
  };
  const double moved = 2 * 2.0 * 16 * (64 * 56 * 56 + 256 * 28 * 28), rate = 900e9 * v100.profile.memory_efficiency;
  for (const Gradient gradient : {Gradient::None, Gradient::Input, Gradient::Weight})
    EXPECT_NEAR(more(NumberFormat::Fp16, shape, gradient), moved / rate + v100.profile.kernel_overhead.count(), 1e-12);
  EXPECT_EQ(more(NumberFormat::Fp32, shape, Gradient::None), 0) << "no matrix units";
  EXPECT_EQ(more(NumberFormat::Fp16, depthwise, Gradient::None), 0);
}

TEST(ConvolutionClock, NarrowGroupsFillNoTensorCore) {
  const Convolution grouped{256, 256, 3, 3, 1, 28, 32}, whole{256, 256, 3, 3, 1, 28};
  EXPECT_GT(time_of(NumberFormat::Fp16, grouped), time_of(NumberFormat::Fp16, whole) / 32);
}

}  // namespace
}  // namespace sim
