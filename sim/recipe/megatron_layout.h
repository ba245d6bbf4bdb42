// --pipeline-model-parallel-layout: "Et*6|t*6|t*6mL" is the embedding, the blocks of each virtual stage in the model's order, a layer that predicts a
// further token, the head with the loss.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

std::string layout_text(const ParallelPlan& plan);
void read_layout(const Value& value, Draft& draft);  // also commas, (t|)*3, ttt
void settle_predictions(Draft& draft);               // by --mtp-num-layers and the layout

}  // namespace sim
