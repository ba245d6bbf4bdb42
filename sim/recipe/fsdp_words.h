// Words of PyTorch's FSDP that several programs pass on.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

void read_backward_prefetch(const Value& value, Draft& draft);

}  // namespace sim
