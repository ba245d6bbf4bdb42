// A small plan in bf16 on an A100, whose kernels are modelled, by a program's profile.
#pragma once

#include "tests/sim/plan/plans.h"

namespace sim::testing {

inline ParallelPlan a100_plan(const char* software) {
  ParallelPlan plan = tiny_plan();
  plan.cluster.hardware = load_hardware_profile("a100-80gb-sxm");
  plan.cluster.software = load_software(software);
  plan.workload.precision = Precision::Bf16;
  return plan;
}

}  // namespace sim::testing
