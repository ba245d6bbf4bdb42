#include "sim/cluster/hardware_profile.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(HardwareProfile, NamesStandBesideTheirValues) {
  EXPECT_EQ(std::size(kPrecisionNames), kNumPrecisions);
  EXPECT_EQ(kPrecisionNames[static_cast<std::size_t>(Precision::Fp16)], "fp16");
  EXPECT_EQ(kKernelNames[static_cast<std::size_t>(Kernel::CrossEntropyForward)], "cross_entropy_forward");
  EXPECT_EQ(kKernelNames[static_cast<std::size_t>(Kernel::Copy)], "copy");
  EXPECT_EQ(std::size(kKernelNames), static_cast<std::size_t>(Kernel::SendReceive) + 1);
}

TEST(HardwareProfile, BytesOfAnElement) {
  EXPECT_EQ(bytes_per_element(Precision::Fp64), Bytes(8));
  EXPECT_EQ(bytes_per_element(Precision::Fp32), Bytes(4));
  EXPECT_EQ(bytes_per_element(Precision::Tf32), Bytes(4)) << "a way to multiply, not to store";
  EXPECT_EQ(bytes_per_element(Precision::Bf16), Bytes(2));
  EXPECT_EQ(bytes_per_element(Precision::Fp16), Bytes(2));
}

TEST(HardwareProfile, ScaledProductsWhereThePartHasThem) {
  EXPECT_EQ(why_not_scaled(load_hardware_profile("h100-80gb-sxm"), ScaleRecipe::Blockwise), "");
  EXPECT_EQ(why_not_scaled(load_hardware_profile("b200-180gb-sxm"), ScaleRecipe::Nvfp4), "");
  EXPECT_EQ(why_not_scaled(load_hardware_profile("h100-80gb-sxm"), ScaleRecipe::Nvfp4), "h100-80gb-sxm has no fp4 rate");
  EXPECT_EQ(why_not_scaled(load_hardware_profile("h100-80gb-sxm"), ScaleRecipe::Mx),
            "h100-80gb-sxm has no matrix unit that takes mx scales");
  EXPECT_EQ(why_not_scaled(load_hardware_profile("v100-16gb-sxm2"), ScaleRecipe::Delayed), "v100-16gb-sxm2 has no fp8 rate");
  HardwareProfile host = load_hardware_profile("h100-80gb-sxm");  // emulates 8 bit, not 4
  host.kind = DeviceKind::Cpu;
  host.kernels = {};
  EXPECT_EQ(why_not_scaled(host, ScaleRecipe::Mx), "");
  EXPECT_NE(why_not_scaled(host, ScaleRecipe::Nvfp4), "");
  HardwareProfile measured = load_hardware_profile("h100-80gb-sxm");
  measured.measured.resize(1);
  EXPECT_NE(why_not_scaled(measured, ScaleRecipe::Delayed), "");
}

TEST(HardwareProfile, ShapesHaveTheirSizes) {
  EXPECT_EQ(shape_size(Kernel::LinearWeightGradient), 3u);
  EXPECT_EQ(shape_size(Kernel::AttentionBackward), 4u);
  EXPECT_EQ(shape_size(Kernel::NormForward), 2u);
  EXPECT_EQ(shape_size(Kernel::AdamW), 1u);
  EXPECT_EQ(shape_size(Kernel::OperatorCall), 0u);
  EXPECT_EQ(shape_size(Kernel::AllReduce), 2u);
}

}  // namespace
}  // namespace sim
