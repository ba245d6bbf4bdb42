#include <gmock/gmock.h>

#include "sim/clock/device.h"

namespace sim {
namespace {

TEST(Device, PeakOfEachFormat) {
  const Device h100 = load_device("h100-80gb-sxm");
  EXPECT_DOUBLE_EQ(h100.matrix_peak(NumberFormat::Bf16).value(), 989.4e12);
  EXPECT_DOUBLE_EQ(h100.matrix_peak(NumberFormat::Fp8).value(), 1979e12);
  EXPECT_DOUBLE_EQ(h100.matrix_peak(NumberFormat::Fp32).value(), 66.9e12);
}

TEST(Device, WithoutSuchUnitsTheNextBest) {
  const Device p40 = load_device("p40-24gb"), v100 = load_device("v100-16gb-sxm2");
  EXPECT_EQ(p40.matrix_peak(NumberFormat::Fp8).value(), 0) << "no other unit stands for it: see why_not_scaled()";
  EXPECT_EQ(v100.matrix_peak(NumberFormat::Tf32), v100.matrix_peak(NumberFormat::Fp32));
}

TEST(Device, EachFormatOfSixteenBitsHasItsOwnPeak) {
  const Device t4 = load_device("t4-16gb"), v100 = load_device("v100-16gb-sxm2"), h100 = load_device("h100-80gb-sxm");
  EXPECT_DOUBLE_EQ(t4.matrix_peak(NumberFormat::Fp16).value(), 65e12);
  EXPECT_DOUBLE_EQ(t4.matrix_peak(NumberFormat::Bf16).value(), 8.1e12);
  EXPECT_EQ(t4.half_peak(), t4.matrix_peak(NumberFormat::Fp16));
  EXPECT_EQ(v100.matrix_peak(NumberFormat::Bf16), v100.matrix_peak(NumberFormat::Fp16)) << "the profile has one of them";
  EXPECT_DOUBLE_EQ(h100.matrix_peak(NumberFormat::Fp64).value(), 33.5e12);
}

TEST(Device, ShareOfEachFormat) {
  const Device h100 = load_device("h100-80gb-sxm");
  EXPECT_EQ(h100.matrix_share(NumberFormat::Fp8), h100.kernels.fp8_share);
  EXPECT_EQ(h100.matrix_share(NumberFormat::Bf16), h100.kernels.matrix_share);
}

TEST(Device, ProductsOfNewerLibrariesWhereTheyWereMeasured) {
  const Device h100 = load_device("h100-80gb-sxm"), a100 = load_device("a100-80gb-sxm");
  EXPECT_GT(h100.kernels.newer_matrix_share, h100.kernels.matrix_share);
  EXPECT_EQ(h100.matrix_share(NumberFormat::Bf16, true), h100.kernels.newer_matrix_share);
  EXPECT_EQ(h100.matrix_share(NumberFormat::Fp8, true), h100.kernels.fp8_share) << "only 16 bits were measured";
  EXPECT_EQ(h100.matrix_share(NumberFormat::Fp32, true), h100.kernels.single_share);
  EXPECT_EQ(a100.matrix_share(NumberFormat::Bf16, true), a100.kernels.matrix_share) << "never measured so";
}

TEST(Device, AProgramRunsKernelsAsItsProfileSays) {
  SoftwareStack stack;
  stack.attention = "unfused";
  stack.fused_loss = true;
  const KernelSetting setting = usual_setting(stack);
  EXPECT_EQ(setting.attention, AttentionKernel::Unfused);
  EXPECT_TRUE(setting.fused_loss);
  EXPECT_EQ(setting.accumulate_bytes, stack.accumulate_bytes);
}

}  // namespace
}  // namespace sim
