#include "measure_test.h"

namespace executor {
namespace {

TEST(MeasureProducts, EachShapeForwardAndBackward) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  std::vector<Sample> samples;
  measure_products(timer, {}, samples);
  expect_sound(samples);
  EXPECT_GE(count(samples, sim::Kernel::LinearForward), 4);
  EXPECT_EQ(count(samples, sim::Kernel::LinearForward), count(samples, sim::Kernel::LinearInputGradient));
  EXPECT_EQ(count(samples, sim::Kernel::LinearForward), count(samples, sim::Kernel::LinearWeightGradient));
  EXPECT_GE(count(samples, sim::Kernel::AttentionForward), 1);
  EXPECT_EQ(count(samples, sim::Kernel::AttentionForward), count(samples, sim::Kernel::AttentionBackward));
}

TEST(MeasureProducts, LeavesOutWhatTakesTooLong) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  std::vector<Sample> samples;
  measure_products(timer, {}, samples);
  for (const Sample& sample : samples) {
    if (sample.shape.size() != 3) continue;
    EXPECT_LE(sim::Flops(2.0 * static_cast<double>(sample.shape[0] * sample.shape[1] * sample.shape[2])), kHasty.largest);
  }
}

TEST(MeasureProducts, OperandsDiffer) {
  std::vector<Sample> samples;
  EXPECT_EQ(makers_of_constants([&](KernelTimer& timer) { measure_products(timer, {}, samples); }), std::set<std::string>{});
}

}  // namespace
}  // namespace executor
