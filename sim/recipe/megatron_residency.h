// Arguments of Megatron-Core about what waits for a backward on the host, and about gradients that wait for the last one.
#pragma once

#include <string>

#include "sim/recipe/draft.h"

namespace sim {

void read_offloaded_modules(const Value& value, Draft& draft);  // "layer_input": inputs of recomputed blocks
void read_least_on_host(const Value& value, Draft& draft);
Written least_on_host(const ParallelPlan& plan);
bool sends_blocks(const ParallelPlan& plan);  // all that the first blocks keep: cpu-offloading
// wgrad-deferral-limit: 0 where all microbatches are meant.
Written deferral_limit(const ParallelPlan& plan);
// When network, degrees and recomputation are known: of both words, what such a plan has.
void settle_residency(Draft& draft);

}  // namespace sim
