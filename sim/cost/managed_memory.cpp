#include "sim/cost/managed_memory.h"

#include "sim/clock/host_clock.h"
#include "sim/cost/resident_memory.h"

namespace sim {

Bytes managed_bytes(const ParallelPlan& plan, const Bucket& bucket) {
  if (!plan.paged_optimizer || bucket.frozen) return {};
  Workload seen = plan.workload;
  if (plan.is_full(bucket.ready_after)) seen.precision = Precision::Fp32;
  return moment_bytes_per_element(seen, habits_of(plan.cluster)) * stepped_elements(bucket, plan);
}

Seconds paging_time(const ParallelPlan& plan, const Bucket& bucket) {
  const HostClock host = host_clock(plan.cluster.hardware.kernels.value_or(KernelTraits{}));
  return host.copy(static_cast<double>(managed_bytes(plan, bucket).value()));
}

}  // namespace sim
