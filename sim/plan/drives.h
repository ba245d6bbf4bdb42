// What lies on drives (docs/decisions/907), and what passes through the host's memory then: as stage 3 of DeepSpeed 0.19 has it by itself
// (runtime/zero/offload_config.py, runtime/zero/stage3.py, runtime/swap_tensor), of one rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/plan/parallel_plan.h"
#include "sim/units/quantity.h"

namespace sim {

struct Drives {
  std::int64_t elements = 0;  // of weights that the rank owns

  static constexpr std::int64_t kGroup = 1'000'000'000;        // sub_group_size: elements that are stepped together
  static constexpr std::int64_t kBuffers = 4;                  // buffer_count: a master, its gradient, two moments
  static constexpr std::int64_t kWeightsKept = 1'000'000'000;  // max_in_cpu: a rank with more than that has all of its weights on drives
  static constexpr std::int64_t kWeightBuffers = 5, kWeightBuffer = 100'000'000;  // buffer_count, and buffer_size: elements

  bool hold_weights() const { return elements > kWeightsKept; }
  std::int64_t group() const { return std::min(kGroup, elements); }
  Bytes states_buffers(Bytes number) const { return number * (kBuffers * group()); }
  // The room that is meant for weights that stay is taken all the same, and a group of them is made from its masters.
  Bytes weights_in_memory(Bytes number) const {
    return number * (hold_weights() ? kWeightsKept + group() + kWeightBuffers * kWeightBuffer : elements);
  }
};

void put_on_drive(ParallelPlan& plan, OnDrive what, bool is_there);
void keep_drives_to_the_host(ParallelPlan& plan);  // what a device holds is on no drive

}  // namespace sim
