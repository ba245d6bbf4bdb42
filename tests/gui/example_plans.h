// Plans that the tests of the window share: small, and priced by a profile that comes with the source.
#pragma once

#include "gui/core/simulated_plan.h"

namespace gui::test {

// Two pipeline stages of two data ranks, four microbatches.
inline sim::ParallelPlan examplePlan() {
  sim::ParallelPlan plan;
  plan.model = sim::load_model_config("profiles/models/tiny-gpt2.json");
  plan.cluster = sim::load_cluster("a100-80gb-sxm", sim::DeviceCount{4});
  plan.workload = {.sequence = 64, .global_batch = 8, .precision = sim::Precision::Bf16, .optimizer = sim::OptimizerKind::AdamW};
  plan.mesh = {.data = 2, .pipeline = 2, .tensor = 1};
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

// What the worker accepts: a profile of CPUs, whole precision.
inline sim::ParallelPlan runnablePlan() {
  sim::ParallelPlan plan = examplePlan();
  plan.cluster.hardware.kind = sim::DeviceKind::Cpu;
  plan.workload.precision = sim::Precision::Fp32;
  return plan;
}

inline SharedPlan exampleSimulation(Ranks ranks = Ranks::Folded) { return simulatePlan(examplePlan(), ranks); }

}  // namespace gui::test
