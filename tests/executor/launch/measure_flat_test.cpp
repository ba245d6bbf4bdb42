#include "measure_test.h"

namespace executor {
namespace {

TEST(MeasureFlat, LargeBuffersTakeLonger) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  std::vector<Sample> samples;
  measure_flat(timer, samples);
  expect_sound(samples);
  for (const auto kernel : {sim::Kernel::AdamW, sim::Kernel::Sgd, sim::Kernel::SquaredNorm, sim::Kernel::Copy}) {
    const auto is_it = [&](const Sample& sample) { return sample.kernel == kernel; };
    const auto first = std::find_if(samples.begin(), samples.end(), is_it);
    const auto last = std::find_if(samples.rbegin(), samples.rend(), is_it);
    EXPECT_EQ(last->shape[0], first->shape[0] << 12);
    EXPECT_GT(last->time, 10 * first->time);  // 4,096 times as much
  }
}

}  // namespace
}  // namespace executor
