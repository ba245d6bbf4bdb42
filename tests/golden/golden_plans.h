// The plans whose simulated timelines are kept as text: one for each technique, small enough to be read.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/sim/plan/plans.h"

namespace sim::testing {

struct GoldenPlan {
  std::string name;  // of the file, without .txt
  ParallelPlan plan;
  friend void PrintTo(const GoldenPlan& golden, std::ostream* out) { *out << golden.name; }
};

// Invented: slow enough that a tiny model's communication is seen, with streams that overlap.
inline HardwareProfile overlapping_device() {
  HardwareProfile hardware = two_core_machine();
  hardware.name = "test-device";
  hardware.kind = DeviceKind::Gpu;
  hardware.cores_per_node = 0;
  hardware.devices_per_node = 2;
  hardware.overlaps_communication = true;
  hardware.inter_node = {.type = "fabric", .latency = Seconds(10e-6), .bandwidth = BytesPerSecond(1e9)};
  return hardware;
}

inline ParallelPlan on_devices(ParallelPlan plan) {
  plan.cluster.hardware = overlapping_device();
  return plan;
}

inline std::vector<GoldenPlan> golden_plans() {
  std::vector<GoldenPlan> plans;
  const auto add = [&](std::string name, ParallelPlan plan) -> ParallelPlan& {
    return plans.emplace_back(GoldenPlan{std::move(name), std::move(plan)}).plan;
  };
  add("solo", tiny_plan());
  add("data2_ddp", on_devices(tiny_plan({.data = 2}))).bucket_size = Bytes(1 << 16);
  add("data2_zero3", on_devices(tiny_plan({.data = 2}))).zero_stage = 3;
  add("tensor2", tiny_plan({.tensor = 2}));
  ParallelPlan& sequence = add("tensor2_sequence_parallel", on_devices(tiny_plan({.tensor = 2})));
  sequence.sequence_parallel = true;
  sequence.model = tiny_llama();
  add("pipeline2_1f1b", tiny_plan({.pipeline = 2})).microbatch_size = 2;
  ParallelPlan& gpipe = add("pipeline2_gpipe_recompute", tiny_plan({.pipeline = 2}));
  gpipe.microbatch_size = 2;
  gpipe.schedule = "gpipe";
  gpipe.recompute = Recompute::Full;
  add("pipeline2_interleaved", on_devices(interleaved_plan({.pipeline = 2}, 2))).microbatch_size = 2;
  const auto in_slices = [&](std::string name, const char* schedule) {
    ParallelPlan& plan = add(std::move(name), on_devices(tiny_plan({.pipeline = 2})));
    plan.schedule = schedule;
    plan.microbatch_size = 4;
    plan.slices = 4;
  };
  in_slices("pipeline2_slices_gpipe", "gpipe");
  in_slices("pipeline2_slices_1f1b", "1f1b");
  add("data2_pipeline2_tensor2", on_devices(tiny_plan({.data = 2, .pipeline = 2, .tensor = 2}))).zero_stage = 1;
  return plans;
}

}  // namespace sim::testing
