// How Megatron-LM cuts blocks over stages: evenly, with another number at the ends, or with embedding and loss counted as blocks.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

void settle_stages(Draft& draft);  // when network, degrees and chunks are known

}  // namespace sim
