// Adapters on Megatron-Core: ms-swift's `megatron sft --tuner_type lora` and Megatron-Bridge's `peft`. One pair stands beside each of its products, and the
// products of queries, keys and values are one there, as those of gate and up are.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

// draft.said has tuner-type, lora-rank, lora-alpha, lora-dropout and target-modules. Left out: ms-swift's own, rank 8 and alpha 32 on all linear layers.
void settle_adapters_of_megatron(Draft& draft);

}  // namespace sim
