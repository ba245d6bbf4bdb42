// What of the network the Trainer's programs train: pairs beside frozen products, the last blocks, or all.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

void settle_adapters(Draft& draft);
void settle_norms(Draft& draft, bool is_sharded);  // the type of their weights, once that of all others is known

}  // namespace sim
