// Recipes that torchtitan itself stops at: no plan is such a run.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

// Whether FSDP cuts weights over data ranks. draft: degrees as the file says them.
bool shards_over_data(const Draft& draft);
void refuse_what_torchtitan_stops_at(Draft& draft);

}  // namespace sim
