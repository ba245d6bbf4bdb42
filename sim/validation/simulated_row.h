// The plan of a published row, simulated: what the program that was measured would have shown.
#pragma once

#include <string>

#include "sim/cost/prediction_interval.h"
#include "sim/engine/simulate.h"
#include "sim/validation/published_row.h"

namespace sim {

struct RowEstimate {
  Seconds time{}, low{}, high{};                                   // 80 % of runs lie between
  double memory_gib = 0, memory_low_gib = 0, memory_high_gib = 0;  // of the counter and rank that are asked for
  double out_of_memory_chance = 0;
  bool out_of_memory = false;  // likelier than not
  ForeseenStep step{};         // the time again, as it is compared with others of the same program
  std::string program;
};

// The least recomputation that fits into memory; all of it where nothing does. For rows that state none.
void settle_recompute(DescribedRow& described);
RowEstimate estimate(const DescribedRow& described);
void take_time(Seconds time, const PredictionInterval& interval, const ParallelPlan& plan, RowEstimate& estimate);

// What the counter that is asked for shows of the rank that is asked for.
Bytes counted_memory(const ParallelPlan& plan, const SimulationResult& result, const MemoryQuestion& asked);

}  // namespace sim
