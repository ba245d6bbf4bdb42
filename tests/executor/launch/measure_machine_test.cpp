#include <unistd.h>

#include "measure_test.h"

namespace executor {
namespace {

TEST(MeasureMachine, DescribesTheMachine) {
  const sim::HardwareProfile profile = measure_machine(start_mpi(), kHasty);
  EXPECT_EQ(profile.kind, sim::DeviceKind::Cpu);
  EXPECT_EQ(profile.cores_per_node, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(profile.memory, sim::Bytes(std::int64_t{1} << 28));
  EXPECT_GT(profile.memory_bandwidth, sim::BytesPerSecond(1e8));
  for (const sim::Precision precision : {sim::Precision::Fp64, sim::Precision::Fp32, sim::Precision::Bf16})
    EXPECT_GT(profile.peak[static_cast<std::size_t>(precision)], sim::FlopsPerSecond(1e6));
  EXPECT_GT(profile.kernel_overhead.count(), 0);
  EXPECT_GT(profile.intra_node.bandwidth, sim::BytesPerSecond(1e6));
  EXPECT_GT(profile.intra_node.latency.count(), 0);
  EXPECT_FALSE(profile.overlaps_communication);
  EXPECT_NE(profile.source.find("meshwright measure"), std::string::npos);
  EXPECT_EQ(profile.date.size(), std::string("2026-01-01").size());
}

TEST(MeasureMachine, CopiesNumbersThatDiffer) {
  EXPECT_EQ(makers_of_constants([](KernelTimer& timer) { copy_rate(timer); }), std::set<std::string>{});
}

}  // namespace
}  // namespace executor
