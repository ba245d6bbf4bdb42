// Time of one optimizer step and memory of the fullest GPU, from a run's description alone: kernels by shape, collectives by link, the
// pipeline's order played with those times. For configurations that cannot be lowered to tasks yet (context parallelism, zero bubble, experts,
// convolutional networks) as well as for those that can. Used by sim/validation.
#pragma once

#include "sim/clock/device.h"
#include "sim/cluster/software_stack.h"
#include "sim/estimate/run_description.h"

namespace sim {

struct StepParts {       // seconds; what the step is made of
  double pipeline = 0;   // all microbatches, with the bubble and with tensor collectives
  double gradients = 0;  // their exchange, as far as nothing hides it
  double optimizer = 0;
  double gather = 0;  // of updated weights, as far as nothing hides it
  double overhead = 0;
  double total() const { return pipeline + gradients + optimizer + gather + overhead; }
};

struct StepEstimate {
  Seconds time{}, low{}, high{};
  StepParts parts;
  double memory_gib = 0, memory_low_gib = 0, memory_high_gib = 0;  // as time: 80 % of runs lie between
  double out_of_memory_chance = 0;
  bool out_of_memory = false;  // likelier than not
};

struct Setting {  // what a run is estimated with
  const Device& device;
  const SoftwareStack& stack;
};

StepEstimate estimate_step(const RunDescription& run, const Setting& setting);

}  // namespace sim
