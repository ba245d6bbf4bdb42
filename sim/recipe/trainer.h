// What several arguments of the Trainer say together: who starts it, batch, layout, types, adapters.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

// draft.said holds the arguments under the names of the table; "file.*" are those of a DeepSpeed file, "launch.*" of an Accelerate file.
void settle_trainer(Draft& draft);

}  // namespace sim
