// Zero-bubble orders found for passes that are not equally long, under a limit of memory: rules place passes one by one, the best of many rules is
// bettered by exchanging neighbours. What is found is data, an order as a CSV holds it: performed, simulated and written like any other.
// Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024, section 3.1: forwards first while memory holds, then one forward and one backward by turns,
// weights' gradients where nothing else is ready. Rules differ in how many forwards come first, in whether they are put before backwards, and in how
// much of a weight pass must fit what is left until the next arrival.
//
//   stage 0   F0 F1 F2    B0 W0 B1 W1 B2 W2      p = 2, m = 3
//   stage 1      F0 B0 F1 B1 F2 B2 W0 W1 W2
//
// Exact for small pipelines by comparison with all orders (tests); no bound elsewhere. Same bytes on every run.
#pragma once

#include "sim/schedule/order_table.h"
#include "sim/schedule/order_times.h"

namespace sim {

// In percent of what a microbatch holds on a stage from its forward on.
struct StageMemory {
  std::int32_t limit = 100;  // of all microbatches: p times 100 is the memory of 1f1b's first stage and of zb-1p, twice of it that of zb-2p
  std::int32_t waiting = 100;  // of one between its two backwards
};
struct OrderProblem {
  PipelineTimes times;
  PipelineShape shape;              // one chunk a stage, whole samples
  std::vector<StageMemory> memory;  // by stage
  StepEnd end = StepEnd::Barrier;
};

// The most that an order holds, in percent: a forward takes 100, its backwards give them back.
std::int32_t percent_held(const std::vector<StageAction>& order, const StageMemory& memory);

// At least as fast as zb-1p and zb-2p where those fit the limits. A limit is at least 100.
OrderTable searched_order(const OrderProblem& problem);

}  // namespace sim
