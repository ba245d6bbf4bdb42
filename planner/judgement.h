// What becomes of a candidate, with the bounds that say so: the certificate of a search has one for each. Made by evaluator and search.
#pragma once

#include <cstdint>

#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace planner {

enum class Verdict : std::uint8_t {
  Open,         // may be simulated
  Illegal,      // sim::violations()
  NotRunnable,  // by the request's why_not
  TooLarge,     // the memory bound (or the simulated peak) exceeds the limit
  TooRisky,     // its bound (or the simulation) fits, but with a higher chance to run out of memory than is accepted
  Beaten,       // open, but its bounds cannot enter the result
  Simulated,    // and it fits
};

struct Judgement {
  Verdict verdict = Verdict::Open;
  bool is_sketch = false;  // no rule was asked, and the bounds are the first ones
  sim::Bytes memory{};     // bound, or simulated peak; set unless refused by a rule
  sim::SimTime time{};     // bound, or simulated, as plans are ranked (planner/ranking.h); set unless refused
};

}  // namespace planner
