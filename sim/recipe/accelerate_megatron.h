// Accelerate's plugin of Megatron-LM: `distributed_type: MEGATRON_LM` with a `megatron_lm_config`, or `accelerate launch --use_megatron_lm
// --megatron_lm_tp_degree 2`. What it says are arguments of Megatron-LM under names of its own; the network and the microbatch are the program's.
#pragma once

#include "sim/recipe/settings.h"

namespace sim {

bool is_of_accelerate_megatron(const RecipeSettings& settings);
// Its settings as Megatron-LM's arguments; defaults that releases of it do not share are told.
void take_accelerate_megatron(RecipeReading& reading);

}  // namespace sim
