#include "measure_test.h"

namespace executor {
namespace {

TEST(MeasureCollectives, EveryKindInEveryGroupSize) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  std::vector<Sample> samples;
  measure_collectives(timer, samples);
  if (mesh.mesh().ranks() == 1) {
    EXPECT_TRUE(samples.empty());
    return;
  }
  expect_sound(samples);
  for (const std::int32_t size : {mesh.of(sim::MeshAxis::World).size(), 2}) {
    for (const auto kernel : {sim::Kernel::AllReduce, sim::Kernel::ReduceScatter, sim::Kernel::AllGather}) {
      EXPECT_TRUE(std::any_of(samples.begin(), samples.end(),
                              [&](const Sample& sample) { return sample.kernel == kernel && sample.shape[1] == size; }));
    }
  }
  EXPECT_EQ(count(samples, sim::Kernel::SendReceive), count(samples, sim::Kernel::AllReduce) / (mesh.mesh().ranks() == 2 ? 1 : 2));
}

}  // namespace
}  // namespace executor
