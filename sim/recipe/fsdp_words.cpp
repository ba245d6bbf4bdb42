// Facts: torch.distributed.fsdp.BackwardPrefetch.
#include "sim/recipe/fsdp_words.h"

namespace sim {

// BACKWARD_PRE is its default, and what a plan gathers.
void read_backward_prefetch(const Value& value, Draft&) {
  if (value.text() == "BACKWARD_POST")
    return value.lost("gathers a unit behind the one before it: less memory", "mind that it waits longer");
  if (value.text() == "NO_PREFETCH" || !is_on(value.text()))
    value.lost("gathers nothing ahead in the backward; the plan gathers one unit",
               "mind that it waits longer; \"prefetch\": 0 in the plan gathers nothing ahead in the forward, either");
}

}  // namespace sim
