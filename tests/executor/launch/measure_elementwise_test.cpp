#include "measure_test.h"

namespace executor {
namespace {

TEST(MeasureElementwise, EveryKernelOfALayer) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  std::vector<Sample> samples;
  measure_elementwise(timer, {}, samples);
  expect_sound(samples);
  using sim::Kernel;
  for (auto kernel = Kernel::NormForward; kernel <= Kernel::DropoutBackward; kernel = static_cast<Kernel>(static_cast<int>(kernel) + 1)) {
    EXPECT_GE(count(samples, kernel), 5) << sim::kKernelNames[static_cast<std::size_t>(kernel)];
    const auto in_bf16 = [&](const Sample& sample) { return sample.kernel == kernel && sample.precision == sim::Precision::Bf16; };
    EXPECT_GE(std::count_if(samples.begin(), samples.end(), in_bf16), 2) << sim::kKernelNames[static_cast<std::size_t>(kernel)];
  }
}

TEST(MeasureElementwise, OperandsDiffer) {
  std::vector<Sample> samples;
  EXPECT_EQ(makers_of_constants([&](KernelTimer& timer) { measure_elementwise(timer, {}, samples); }), std::set<std::string>{});
}

}  // namespace
}  // namespace executor
