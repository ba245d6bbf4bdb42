// What a GPU that ran out of memory means for the plan: what was predicted, what is there, who holds it.
#pragma once

#include <string>

#include "executor/kernels/device_memory.h"
#include "executor/training/parameter_store.h"
#include "sim/units/input_error.h"

namespace executor {

struct OutOfMemory {
  const sim::ParallelPlan& plan;
  const ParameterStore& parameters;
  DeviceMemory memory;  // when it happened
  std::string words;    // LibTorch's
};
sim::Violation out_of_memory(const OutOfMemory& what);

}  // namespace executor
