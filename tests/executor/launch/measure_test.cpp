#include "executor/launch/measure.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include "measure_test.h"

namespace executor {
namespace {

TEST(Measure, EveryKernelOfTheProfileOnceAndTheSameOnAllRanks) {
  auto mesh = all_ranks();
  const auto measured = measure_kernels(mesh, kHasty);
  const bool alone = mesh.mesh().ranks() == 1;
  for (std::size_t kernel = 0; kernel < std::size(sim::kKernelNames); ++kernel) {
    const auto is = static_cast<sim::Kernel>(kernel);
    const bool is_run = is < sim::Kernel::Routing || is > sim::Kernel::IndexerBackward;  // none of experts, scans and indexers
    const bool expected = is_run && (!alone || is < sim::Kernel::AllReduce);
    const bool found =
        std::any_of(measured.begin(), measured.end(), [&](const auto& point) { return static_cast<std::size_t>(point.kernel) == kernel; });
    EXPECT_EQ(found, expected) << sim::kKernelNames[kernel];
  }
  const at::Tensor times = at::full({static_cast<std::int64_t>(measured.size())}, 0, at::kDouble);
  for (std::size_t i = 0; i < measured.size(); ++i) times.data_ptr<double>()[i] = measured[i].time.count();
  const at::Tensor largest = times.clone();
  mesh.of(sim::MeshAxis::World).all_reduce(largest, ReduceOperation::Maximum, {})->wait();
  EXPECT_TRUE(at::equal(times, largest));
  EXPECT_EQ(measured.front().concurrent_ranks, mesh.mesh().ranks());
}

TEST(Measure, GroupsAreAllRanksAndPairs) {
  EXPECT_EQ(measuring_mesh(1).ranks(), 1);
  EXPECT_EQ(measuring_mesh(2), (sim::DeviceMesh{.data = 2, .pipeline = 1, .tensor = 1}));
  EXPECT_EQ(measuring_mesh(3), (sim::DeviceMesh{.data = 3, .pipeline = 1, .tensor = 1}));
  EXPECT_EQ(measuring_mesh(4), (sim::DeviceMesh{.data = 2, .pipeline = 1, .tensor = 2}));
}

}  // namespace
}  // namespace executor
