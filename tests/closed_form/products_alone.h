// A tiny plan on devices that take time for matrix products and for bytes on their links, and for nothing else: what a step takes is a formula.
#pragma once

#include "tests/sim/cost/random_plans.h"

namespace sim::testing {

inline constexpr double kProductPeak = 1e12;  // FLOP/s

inline ParallelPlan products_alone(const DeviceMesh& mesh, BytesPerSecond link) {
  ParallelPlan plan = tiny_plan(mesh);
  HardwareProfile& gpu = plan.cluster.hardware = small_gpu();
  gpu.devices_per_node = 8;
  gpu.peak[static_cast<std::size_t>(Precision::Fp32)] = FlopsPerSecond(kProductPeak);
  gpu.matrix_efficiency = gpu.attention_efficiency = gpu.memory_efficiency = 1;
  gpu.memory_bandwidth = BytesPerSecond(1e30);
  gpu.kernel_overhead = Seconds(0);
  gpu.intra_node = {.type = "nvlink", .latency = Seconds(0), .bandwidth = link};
  plan.bucket_size = Bytes(1 << 30);  // one bucket, reduced at the end
  return plan;
}

}  // namespace sim::testing
