// `accelerate launch` has options of its own, and a file of Accelerate's beside it: which of both counts.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

void read_file_of_accelerate(const RecipeSource& source, const RecipeSetting& named, RecipeReading& reading);

// Settings of the file stand under "launch."; afterwards those of the line do so, too, where they count.
void settle_line_of_accelerate(RecipeReading& reading);

// What Accelerate fills in where a DeepSpeed file says "auto": its stage, and where states are kept. draft.said has what its line and its file say.
RecipeSettings filled_by_accelerate(RecipeSettings of_deepspeed, const Draft& draft);

}  // namespace sim
