#include "sim/plan/drives.h"

namespace sim {

void put_on_drive(ParallelPlan& plan, OnDrive what, bool is_there) {
  const int others = static_cast<int>(plan.on_drive) & ~static_cast<int>(what);
  plan.on_drive = static_cast<OnDrive>(others | (is_there ? static_cast<int>(what) : 0));
}

void keep_drives_to_the_host(ParallelPlan& plan) {
  if (!plan.offload_optimizer) put_on_drive(plan, OnDrive::Optimizer, false);
  if (!plan.offload_parameters) put_on_drive(plan, OnDrive::Weights, false);
}

}  // namespace sim
